"""Desk: a widget that shows the windows of this notebook's session as tabs, for what agents open."""

from __future__ import annotations

from typing import Any

from . import bundles
from .viewer import Viewer


class Desk(Viewer):
    """The applets of this notebook, a tab each. What an agent sets or loads comes to the front.

    Parameters
    ----------
    height
        Pixels, or a CSS length.
    """

    _esm = bundles.STATIC / "desk-loader.js"

    def __init__(self, height: int | str = 480, **traits: Any) -> None:
        super().__init__(height, **traits)
