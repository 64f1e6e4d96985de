"""The model's history, rebuilt from a log."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from persona_hooks.ports import Entry
from persona_host.embedded.transcript import INTERRUPTED, ROLES, Replied, Returned, Said, ToolCall, lines

CALL = ToolCall("c1", "memory", {"action": "recall"})


def entry(data: dict[str, Any], kind: str = "message") -> Entry:
    return Entry("e", None, "2026-01-01T00:00:00Z", kind, None, data)


def logged(line: Said | Replied | Returned) -> Entry:
    return entry({"role": ROLES[type(line)], "content": line.text, **line.data()})


def test_what_was_logged_comes_back_as_it_was() -> None:
    spoken = [
        Said("hi"),
        Replied("wait", (CALL,), "m"),
        Returned("c1", "memory", "found", is_error=True),
        Replied("done"),
    ]
    assert lines(map(logged, spoken)) == spoken


def test_raw_arguments_of_a_malformed_call_are_kept() -> None:
    reply = Replied("", (ToolCall("c", "memory", "{bad"),))
    assert lines([logged(reply)])[0] == reply


def test_an_interrupted_tool_call_is_answered() -> None:
    spoken = [Said("hi"), Replied("", (CALL,)), Said("are you there?")]
    assert lines(map(logged, spoken))[2] == Returned("c1", "memory", INTERRUPTED, is_error=True)


def test_an_answer_without_its_call_is_left_out() -> None:
    assert lines(map(logged, [Said("hi"), Returned("c9", "memory", "x")])) == [Said("hi")]


def test_custom_entries_and_foreign_messages_are_no_part_of_it() -> None:
    foreign = [
        entry({"ids": ["1"]}, "custom"),
        entry({"role": "user", "content": [1]}),
        entry({"role": "system", "content": ""}),
    ]
    assert lines(foreign) == []


def test_a_call_of_unknown_shape_is_left_out() -> None:
    assert lines([entry({"role": "assistant", "content": "x", "toolCalls": [{"id": 1}, 7]})]) == [Replied("x")]


_ids = st.sampled_from(["a", "b"])
_lines = st.one_of(
    st.builds(Said, st.text(max_size=3)),
    st.builds(
        Replied,
        st.text(max_size=3),
        st.lists(st.builds(ToolCall, _ids, st.just("t"), st.just({})), max_size=2).map(tuple),
    ),
    st.builds(Returned, _ids, st.just("t"), st.text(max_size=3)),
)


@given(st.lists(_lines, max_size=12))
def test_every_call_has_exactly_one_answer_before_anyone_speaks_again(spoken: list[Said | Replied | Returned]) -> None:
    open_calls: set[str] = set()
    for line in lines(map(logged, spoken)):
        if isinstance(line, Returned):
            assert line.call_id in open_calls
            open_calls.remove(line.call_id)
        else:
            assert not open_calls
            open_calls = {call.id for call in line.calls} if isinstance(line, Replied) else set()
    assert not open_calls
