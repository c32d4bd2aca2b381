"""Who a stored prompt comes from: whatever is typed, it is read back as it was, and as whose it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_applets.protocol.markers import clean, mark, parse
from jupyter_applets.protocol.sessions import Source

SOURCES: list[Source] = ["user", "applet", "agent"]
texts = st.text() | st.builds(
    "".join, st.lists(st.sampled_from(["\\", "[applet:", "[agent:", "x", "]", " ", "\n", "[", ":"]))
)


@given(st.sampled_from(SOURCES), texts, texts)
def test_what_is_marked_is_read_back(source: Source, slug: str, prompt: str) -> None:
    expected = None if source == "user" else clean(slug)
    assert parse(mark(source, slug, prompt)) == (source, expected, prompt)


@given(texts)
def test_any_text_can_be_read_and_its_slug_is_clean(content: str) -> None:
    source, slug, _ = parse(content)
    assert (slug is None) == (source == "user")
    assert slug is None or slug == clean(slug)


@given(texts)
def test_clean_slug_stays_as_it_is(slug: str) -> None:
    assert clean(clean(slug)) == clean(slug)
    assert 0 < len(clean(slug)) <= 100


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("[applet:calculator] What is 2+2?", ("applet", "calculator", "What is 2+2?")),
        ("[applet:x]text", ("applet", "x", "text")),
        ("[applet:x]  two", ("applet", "x", " two")),
        ("[applet:x]", ("applet", "x", "")),
        ("[agent:analyst] a\nb", ("agent", "analyst", "a\nb")),
        (r"\[applet:x] typed", ("user", None, "[applet:x] typed")),
        (r"\\[applet:x] typed", ("user", None, r"\[applet:x] typed")),
        ("[applet:x", ("user", None, "[applet:x")),
        ("[applet:] x", ("user", None, "[applet:] x")),
        (" [applet:x] y", ("user", None, " [applet:x] y")),
        ("[Applet:x] y", ("user", None, "[Applet:x] y")),
        (r"\n is a newline", ("user", None, r"\n is a newline")),
        ("[applet:a\nb] y", ("applet", "a_b", "y")),
        ("", ("user", None, "")),
    ],
)
def test_content_of_others_is_read_as_the_seed_says(content: str, expected: tuple[str, str | None, str]) -> None:
    assert parse(content) == expected


def test_slug_that_a_marker_cannot_hold_is_changed() -> None:
    assert clean("a]b\nc\x00d\u2028e") == "a_b_c_d_e"
    assert clean("") == "applet"
    assert clean("x" * 101) == "x" * 100
