"""The public names: sorted, all of them there, loaded only when used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import jupyter_applets
from jupyter_applets import errors


def test_public_names_are_sorted_and_there() -> None:
    assert jupyter_applets.__all__ == sorted(jupyter_applets.__all__)
    for name in jupyter_applets.__all__:
        assert getattr(jupyter_applets, name) is not None
        assert name in dir(jupyter_applets)


def test_name_that_is_not_there_says_so() -> None:
    with pytest.raises(AttributeError, match="Applett"):
        _ = jupyter_applets.Applett


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, jupyter_applets; print(*(m for m in ('anywidget', 'tornado', 'msgspec') if m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""


def test_every_error_has_its_own_code_and_comes_back_from_the_wire() -> None:
    classes = [getattr(errors, name) for name in errors.__all__ if name != "from_wire"]
    codes = [cls.code for cls in classes]
    assert len(set(codes)) == len(codes)
    for cls in classes:
        error = errors.from_wire(cls.code, "a sentence", ["a", "b"])
        assert type(error) is cls
        assert (str(error), error.names) == ("a sentence", ["a", "b"])
        assert cls.__name__ in (errors.__doc__ or "")
    assert type(errors.from_wire("NEW_CODE", "x")) is errors.AppletError


def test_error_names_are_sorted() -> None:
    assert [n for n in errors.__all__ if n != "from_wire"] == sorted(n for n in errors.__all__ if n != "from_wire")
