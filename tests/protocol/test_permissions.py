"""Permissions that nobody could mean are told, not taken for none."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_applets.protocol.permissions import fault


@pytest.mark.parametrize(
    "permissions",
    [
        {},
        {"files": "read", "network": ["https://a.example"], "clipboard": True, "agent": True},
        {"files": None, "clipboard": False, "network": "https://a.example", "microphone": True},
    ],
)
def test_right_ones_pass(permissions: dict[str, Any]) -> None:
    assert fault(permissions) is None


@pytest.mark.parametrize(
    ("permissions", "said"),
    [
        ({"files": "wriet"}, '"read" or "write"'),
        ({"files": ["data/*.csv"]}, '"read" or "write"'),
        ({"files": {"read": ["a"]}}, '"read" or "write"'),
        ({"clipboard": "yes"}, "True or False"),
        ({"fils": "read"}, "did you mean 'files'"),
        ({"networks": []}, "did you mean 'network'"),
    ],
)
def test_wrong_ones_are_told(permissions: dict[str, Any], said: str) -> None:
    assert said in (fault(permissions) or "")
