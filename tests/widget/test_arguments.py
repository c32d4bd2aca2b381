"""What Applet() is given wrongly is told with what is right."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_applets import Applet


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"htm": "<p>"}, r"no argument 'htm'\. Did you mean 'html'\? Its arguments: html, js, css, title, window_id"),
        ({"id": "sheet"}, r"no argument 'id'"),
        ({"_revision": 3}, r"no argument '_revision'"),
        ({"permissions": ["files"]}, r"permissions=…\) takes a mapping such as .*, not \['files'\]"),
        ({"modules": "d3.mjs"}, r"modules=…\) takes a mapping of names to sources or paths, not 'd3\.mjs'"),
    ],
)
def test_wrong_argument_is_refused_with_the_right_ones(given: dict[str, Any], told: str) -> None:
    with pytest.raises(TypeError, match=told):
        Applet(**given)
