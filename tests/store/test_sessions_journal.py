"""What was said in a session: appended line by line, and read back whatever has happened to the file."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_applets.errors import AppletError, PathRefused
from jupyter_applets.protocol.sessions import ChatMessage, Output, ToolCall
from jupyter_applets.store import journal
from jupyter_applets.store.sessions import SessionStore
from jupyter_applets.workspace.files import Workspace

AT = "2026-01-27T20:00:00.000Z"
FOLDER = ".jupyter-applets/sessions/nb"


def line(kind: str, stream_id: str, hidden: bool = False, **data: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"type": kind, "data": data, "timestamp": AT, "streamId": stream_id}
    return {**found, "hidden": True} if hidden else found


def turn(stream_id: str, prompt: str = "ask", text: str = "answer") -> list[dict[str, Any]]:
    return [line("user.message", stream_id, content=prompt), line("assistant.message", stream_id, content=text)]


def said(messages: list[ChatMessage]) -> list[tuple[str, str]]:
    return [(message.source, message.content) for message in messages]


def plain(*lines: tuple[str, Any]) -> bytes:
    """As other programs write them."""
    return b"".join(json.dumps({"type": kind, "data": {"content": text}}).encode() + b"\n" for kind, text in lines)


@pytest.fixture
def sessions(workspace: Workspace) -> SessionStore:
    return SessionStore(workspace)


@pytest.fixture
def events(root: Path) -> Path:
    (root / FOLDER).mkdir(parents=True)
    return root / FOLDER / "events.jsonl"


# ---- writing


def test_line_stands_in_the_file_as_the_seed_says(sessions: SessionStore, root: Path) -> None:
    sessions.append("nb", [line("user.message", "s1", content="[applet:calculator] What is 2+2?")])
    written = (root / FOLDER / "events.jsonl").read_bytes()
    assert written == (
        b'{"type":"user.message","data":{"content":"[applet:calculator] What is 2+2?"},'
        b'"timestamp":"2026-01-27T20:00:00.000Z","streamId":"s1"}\n'
    )


def test_all_lines_of_one_append_are_one_write(
    sessions: SessionStore, monkeypatch: pytest.MonkeyPatch, root: Path
) -> None:
    sessions.append("nb", turn("s0"))
    writes = []
    real = os.write

    def write(descriptor: int, data: Any) -> int:
        writes.append(bytes(data))
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", write)
    sessions.append("nb", turn("s1"))
    assert [data.count(b"\n") for data in writes] == [2]


def test_short_writes_are_finished(sessions: SessionStore, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions.create("nb")
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, bytes(data)[:7]))
    sessions.append("nb", turn("s1"))
    monkeypatch.undo()
    assert said(sessions.history("nb")) == [("user", "ask"), ("assistant", "answer")]


def test_torn_tail_is_closed_and_never_cut(sessions: SessionStore, events: Path) -> None:
    events.write_bytes(b'{"type":"user.mess')
    sessions.append("nb", turn("s1"))
    assert events.read_bytes().startswith(b'{"type":"user.mess\n{"type"')
    assert said(sessions.history("nb")) == [("user", "ask"), ("assistant", "answer")]


def test_writers_of_several_threads_and_stores_lose_nothing(root: Path) -> None:
    def write(number: int) -> None:
        store = SessionStore(Workspace(root))
        for n in range(50):
            store.append("nb", turn(f"{number}-{n}", text="x" * 9_000))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = SessionStore(Workspace(root)).history("nb")
    assert len(found) == 400
    assert all(message.error is None for message in found)


@pytest.mark.parametrize("value", ["half a pair \ud83d", float("nan"), 2**70])
def test_what_json_holds_only_nearly_is_kept_as_near_as_can_be(sessions: SessionStore, value: Any) -> None:
    sessions.append("nb", [line("tool.execution_start", "s", toolCallId="1", toolName="t", arguments=value)])
    sessions.append("nb", turn("s", prompt=value if isinstance(value, str) else "ask"))
    asked, answer = sessions.history("nb")
    assert asked.content.startswith(("half a pair", "ask"))
    assert len(answer.tool_calls) == 1


def test_what_json_cannot_hold_is_refused_and_writes_nothing(sessions: SessionStore) -> None:
    with pytest.raises(AppletError, match="cannot be kept"):
        sessions.append("nb", [*turn("s1"), line("user.message", "s2", content=object())])
    assert sessions.history("nb") == []


def test_journal_that_is_a_link_is_neither_written_nor_read(sessions: SessionStore, events: Path, root: Path) -> None:
    (root / "secret.jsonl").write_bytes(plain(("user.message", "secret")))
    events.symlink_to("../../../secret.jsonl")
    with pytest.raises(AppletError):
        sessions.append("nb", turn("s1"))
    with pytest.raises(PathRefused):
        sessions.history("nb")
    assert (root / "secret.jsonl").read_bytes().count(b"\n") == 1


def test_journal_that_is_a_pipe_is_neither_written_nor_read(sessions: SessionStore, events: Path) -> None:
    os.mkfifo(events)
    with pytest.raises(PathRefused):
        sessions.append("nb", turn("s1"))
    with pytest.raises(PathRefused):
        sessions.history("nb")


# ---- reading


def test_session_of_which_nothing_is_kept_has_no_history(sessions: SessionStore, root: Path) -> None:
    assert sessions.history("nb") == []
    assert not (root / ".jupyter-applets").exists()


def test_history_tells_who_asked_and_folds_tools_and_outputs_into_the_answer(sessions: SessionStore) -> None:
    image = sessions.put_output("nb", "s1", "image/png", b"image", "")
    table = sessions.put_output("nb", "s1", "text/html", b"<table>", "Cells")
    sessions.append(
        "nb",
        [
            line("user.message", "s1", content="[applet:sheet] sum up", image=image.name),
            line("tool.execution_start", "s1", toolCallId="c1", toolName="app_query", arguments={"key": "cells"}),
            line("tool.execution_start", "s1", toolCallId="c2", toolName="app_query", arguments={"key": "nope"}),
            line("tool.execution_complete", "s1", toolCallId="c2", toolName="app_query", success=False, error="no"),
            line("tool.execution_complete", "s1", toolCallId="c1", toolName="app_query", success=True, result=[1]),
            line("assistant.message", "s1", content="3"),
        ],
    )
    calls = [
        ToolCall("c1", "app_query", {"key": "cells"}, [1], done=True),
        ToolCall("c2", "app_query", {"key": "nope"}, None, "no", done=True),
    ]
    assert sessions.history("nb") == [
        ChatMessage(0, "user", "applet", "sum up", AT, "s1", "sheet", image=image.name),
        ChatMessage(
            1,
            "assistant",
            "assistant",
            "3",
            AT,
            "s1",
            tool_calls=calls,
            outputs=[Output(table.name, "text/html", "Cells")],
        ),
    ]


def test_answers_stand_behind_their_prompts_whenever_they_came(sessions: SessionStore) -> None:
    one, two = turn("s1", "1", "one"), turn("s2", "2", "two")
    sessions.append("nb", [one[0], two[0], two[1], one[1]])
    found = sessions.history("nb")
    assert [message.content for message in found] == ["1", "one", "2", "two"]
    assert [message.index for message in found] == [0, 1, 2, 3]


def test_hidden_turn_stays_hidden_and_is_counted(sessions: SessionStore) -> None:
    sessions.append("nb", [line("user.message", "s1", hidden=True, content="a"), *turn("s2")])
    assert [(m.index, m.hidden) for m in sessions.history("nb")] == [(0, True), (1, True), (2, False), (3, False)]


def test_turn_without_an_answer_was_interrupted(sessions: SessionStore) -> None:
    start = line("tool.execution_start", "s1", toolCallId="c", toolName="t", arguments={})
    sessions.append("nb", [line("user.message", "s1", content="a"), start])
    _, answer = sessions.history("nb")
    assert (answer.content, answer.error, answer.status) == ("", journal.INTERRUPTED, "done")
    assert [(call.done, bool(call.error)) for call in answer.tool_calls] == [(True, True)]


def test_answer_that_ended_with_an_error_keeps_what_was_said_till_then(sessions: SessionStore) -> None:
    sessions.append(
        "nb",
        [
            line("user.message", "s1", content="a"),
            line("assistant.message", "s1", content="part", error="boom", code="AGENT_FAILED"),
            line("user.message", "s2", content="b"),
            line("assistant.message", "s2", content="half", interrupted=True),
        ],
    )
    found = sessions.history("nb")
    assert [(m.content, m.error) for m in found[1::2]] == [("part", "boom"), ("half", journal.INTERRUPTED)]


def test_line_that_was_written_twice_counts_once_and_the_last_holds(sessions: SessionStore) -> None:
    sessions.append("nb", [*turn("s1", text="part"), *turn("s1", text="whole")])
    assert said(sessions.history("nb")) == [("user", "ask"), ("assistant", "whole")]


def test_files_of_other_programs_are_read(sessions: SessionStore, events: Path) -> None:
    events.write_bytes(
        b"\xef\xbb\xbf"
        + plain(("user.message", "Hello"), ("assistant.message", "Hi"))
        + b'{"type":"session.start","data":{"error":{"deep":1},"content":[1]}}\r\n\r\n'
        + plain(("user.message", "[applet:x]Go"), ("assistant.message", "Gone"), ("assistant.message", "More"))
    )
    found = sessions.history("nb")
    assert said(found) == [
        ("user", "Hello"),
        ("assistant", "Hi"),
        ("applet", "Go"),
        ("assistant", "Gone"),
        ("assistant", "More"),
    ]
    assert [m.stream_id for m in found] == ["line-0", "line-0", "line-4", "line-4", "line-6"]
    assert [m.index for m in found] == [0, 1, 2, 3, 5]
    assert all(m.error is None for m in found)


def test_tool_calls_of_other_programs_tell_what_went_wrong(sessions: SessionStore, events: Path) -> None:
    data = [{"success": False, "error": {"message": "no such file", "code": 2}}, {"success": False}, {"success": True}]
    lines = [
        {"type": "tool.execution_complete", "data": {"toolCallId": str(n), "toolName": "t", **outcome}}
        for n, outcome in enumerate(data)
    ]
    end = plain(("assistant.message", "Done"))
    events.write_bytes(plain(("user.message", "Hello")) + b"".join(json.dumps(x).encode() + b"\n" for x in lines) + end)
    assert [call.error for call in sessions.history("nb")[1].tool_calls] == ["no such file", "The tool failed.", None]


def test_broken_lines_are_passed_over_and_told_once(
    sessions: SessionStore, events: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = [
        b"{",
        b"\x00" * 40,
        b'{"type":"user.message","data":{"content":"\xff"}}',
        b"[1]",
        b"null",
        b'{"type":1,"data":{"content":"x"}}',
        b'{"type":"user.message","data":"x"}',
        b'{"type":"user.message","data":{"content":7}}',
        b'{"type":"user.message","data":{}}',
        b"[" * 100_000,
    ]
    whole = plain(("user.message", "Hello"), ("assistant.message", "Hi"))
    events.write_bytes(b"\n".join(broken) + b"\n" + whole)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert said(sessions.history("nb")) == [("user", "Hello"), ("assistant", "Hi")]
    assert [record.getMessage() for record in caplog.records] == [
        f"{len(broken)} lines of the journal of session 'nb' cannot be read, and are passed over."
    ]


def test_journal_cut_at_any_byte_loses_its_last_line_at_most(sessions: SessionStore, events: Path) -> None:
    lines = [
        *turn("s1", "[applet:x] ä → 🙂", "eins\nzwei"),
        line("user.message", "s2", content="b"),
        line("tool.execution_start", "s2", toolCallId="c", toolName="t", arguments={"a": [1, "]"]}),
        line("tool.execution_complete", "s2", toolCallId="c", toolName="t", success=True, result={"x": None}),
        line("assistant.message", "s2", content="end"),
    ]
    encoded = [json.dumps(x, ensure_ascii=False).encode() + b"\n" for x in lines]
    wholes = [journal.read(b"".join(encoded[:n])).messages for n in range(len(encoded) + 1)]
    data = b"".join(encoded)
    for cut in range(len(data) + 1):
        found = journal.read(data[:cut]).messages
        kept = data[:cut].count(b"\n")
        assert found == wholes[kept] or (found == wholes[kept + 1] and data[cut : cut + 1] == b"\n")
    # And on the disk, where the next line is written behind it.
    for cut in range(0, len(data) + 1, 7):
        events.write_bytes(data[:cut])
        sessions.append("nb", turn("s3"))
        found = sessions.history("nb")
        assert said(found)[-2:] == [("user", "ask"), ("assistant", "answer")]
        kept = wholes[data[:cut].count(b"\n")]
        assert [m.content for m in found[: len(kept)] if m.role == "user"] == [
            m.content for m in kept if m.role == "user"
        ]


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
_types = st.sampled_from(["user.message", "assistant.message", "tool.execution_start", "tool.execution_complete"])
_keys = st.sampled_from(
    ["content", "image", "error", "code", "interrupted", "toolCallId", "toolName", "success", "result"]
)
_line = st.fixed_dictionaries(
    {"type": _types | _json, "data": st.dictionaries(_keys, _json) | _json},
    optional={"streamId": st.sampled_from(["a", "b"]) | _json, "timestamp": _json, "hidden": _json},
)


@given(st.lists(_line | _json, max_size=12).map(lambda lines: "\n".join(map(json.dumps, lines)).encode()) | st.binary())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_reading_never_fails_and_indexes_rise(data: bytes) -> None:
    found = journal.read(data).messages
    indexes = [message.index for message in found]
    assert indexes == sorted(set(indexes))
    assert all(message.index % 2 == (message.role == "assistant") for message in found)
    assert len({(message.stream_id, message.role) for message in found}) == len(found)


def test_ten_thousand_messages_are_read_in_a_fraction_of_a_second(sessions: SessionStore) -> None:
    def lines(stream_id: str) -> list[dict[str, Any]]:
        asked, answer = turn(stream_id, "[applet:calculator] " + "x" * 80, "It is **four**. " * 20)
        call = {"toolCallId": "c1", "toolName": "app_query"}
        start = line("tool.execution_start", stream_id, **call, arguments={"windowId": "w"})
        return [asked, start, line("tool.execution_complete", stream_id, **call, success=True, result=[1]), answer]

    sessions.append("nb", [x for n in range(5_000) for x in lines(f"s-{n}")])
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        assert len(sessions.history("nb")) == 10_000
        times.append(time.perf_counter() - begin)
    assert min(times) < 0.3
