"""Deleted applets: their folders are moved to the private folder, where the newest few can be taken back from."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from datetime import datetime, timezone

from ..errors import FileMissing
from ..workspace.beneath import open_folder
from ..workspace.files import Workspace

KEPT = 20
FOLDER = "deleted"


def take(workspace: Workspace, slug: str) -> str:
    """Move an applet's folder away; gives its new path from the root."""
    shelf = open_folder(workspace.descriptor, workspace.applets)
    try:
        found = os.stat(slug, dir_fd=shelf, follow_symlinks=False).st_mode
        if not (stat.S_ISDIR(found) or stat.S_ISLNK(found)):
            raise FileMissing(f"There is no folder {slug!r}.")
        deleted = workspace.private_folder(FOLDER)
        try:
            name = f"{slug}-{datetime.now(timezone.utc):%Y%m%dT%H%M%S%fZ}"
            os.rename(slug, name, src_dir_fd=shelf, dst_dir_fd=deleted)
            os.fsync(deleted)
            os.fsync(shelf)
            _drop_oldest(deleted)
        finally:
            os.close(deleted)
    except FileNotFoundError as e:
        raise FileMissing(f"There is no folder {slug!r}.") from e
    finally:
        os.close(shelf)
    return "/".join((*workspace.private, FOLDER, name))


def _drop_oldest(deleted: int) -> None:
    with os.scandir(deleted) as found:
        names = sorted((entry.name for entry in found), key=lambda name: name.rpartition("-")[2])
    for name in names[:-KEPT]:
        with suppress(OSError):
            _remove(deleted, name)


def _remove(above: int, name: str) -> None:
    """A folder with all that is in it. `shutil.rmtree` takes a descriptor from Python 3.11 on only."""
    if not stat.S_ISDIR(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode):
        os.unlink(name, dir_fd=above)
        return
    for _, folders, files, here in os.fwalk(name, topdown=False, dir_fd=above):
        for file in files:
            os.unlink(file, dir_fd=here)
        for folder in folders:
            try:
                os.rmdir(folder, dir_fd=here)
            except NotADirectoryError:  # a link to a folder
                os.unlink(folder, dir_fd=here)
    os.rmdir(name, dir_fd=above)
