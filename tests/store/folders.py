"""What tests see of the folder of applets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jupyter_applets.store.applets import AppletStore


def picture(root: Path) -> dict[str, tuple[bytes, int, int]]:
    """All files with their times and inodes: what a save that changes nothing leaves alone."""
    files = (file for file in sorted((root / "applets").rglob("*")) if file.is_file())
    return {str(file): (file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_ino) for file in files}


def listed(store: AppletStore, slug: str) -> dict[str, Any]:
    return next(entry for entry in store.list() if entry["slug"] == slug)
