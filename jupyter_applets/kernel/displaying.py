"""What an agent displays, as bytes of a kind that a chat shows: images, tables, text."""

from __future__ import annotations

import base64
import io
import sys
from typing import Any

from ..errors import InvalidArguments, TooLarge

MAX_BYTES = 8 * 1024 * 1024
_KINDS = (
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "image/svg+xml",
    "text/html",
    "text/plain",
)
_SIGNATURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
_METHODS = {
    "image/png": "_repr_png_",
    "image/jpeg": "_repr_jpeg_",
    "image/svg+xml": "_repr_svg_",
    "text/html": "_repr_html_",
}


def as_output(value: Any) -> tuple[str, str]:
    """The kind, and the data: text as it is, all else in base64."""
    mime, data = _best(value)
    raw = data if isinstance(data, bytes) else data.encode("utf-8", "replace")
    if len(raw) > MAX_BYTES:
        raise TooLarge(f"What is displayed is {len(raw) / 1e6:.1f} MB; the limit is {MAX_BYTES / 1e6:.1f} MB.")
    if mime.startswith("text/"):
        return mime, raw.decode("utf-8", "replace")
    return mime, base64.b64encode(raw).decode("ascii")


def _best(value: Any) -> tuple[str, bytes | str]:
    if isinstance(value, bytes | bytearray | memoryview):
        data = bytes(value)
        mime = next((kind for start, kind in _SIGNATURES.items() if data.startswith(start)), None)
        if mime is None and data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            mime = "image/webp"
        if mime is None:
            raise InvalidArguments("Of bytes, only PNG, JPEG, GIF and WebP images can be displayed.")
        return mime, data
    if isinstance(value, str):
        return "text/plain", value
    bundle = _bundle(value)
    for kind in _KINDS:
        found = bundle.get(kind)
        if isinstance(found, bytes):
            return kind, found
        if isinstance(found, str):
            # IPython gives images as base64, SVG as text.
            is_text = kind.startswith("text/") or kind == "image/svg+xml"
            return kind, found if is_text else base64.b64decode(found)
    return "text/plain", repr(value)


def _bundle(value: Any) -> dict[str, Any]:
    """As IPython would show it, where it is there; else by the methods that it would ask."""
    if hasattr(value, "savefig"):  # a matplotlib figure, with or without IPython
        buffer = io.BytesIO()
        value.savefig(buffer, format="png", bbox_inches="tight")
        return {"image/png": buffer.getvalue()}
    if "PIL.Image" in sys.modules and isinstance(value, sys.modules["PIL.Image"].Image):
        buffer = io.BytesIO()
        value.save(buffer, "PNG")
        return {"image/png": buffer.getvalue()}
    if "IPython" in sys.modules:
        from IPython.core.getipython import get_ipython

        shell: Any = get_ipython()
        if shell is not None:
            bundle, _metadata = shell.display_formatter.format(value)
            return dict(bundle)
    found = {}
    for kind, name in _METHODS.items():
        method = getattr(value, name, None)
        if callable(method) and (data := method()) is not None:
            found[kind] = data
    return found
