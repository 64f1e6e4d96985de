"""The messages of the bus: what is taken, what is refused, and what a refusal never tells."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from persona_hooks import messages, work
from persona_hooks.errors import InvalidError
from persona_hooks.messages import CompanionQuery, Message, OwnerReply, Setting
from tests.support.corpus import Case, cases

MESSAGES = (*messages.MESSAGES, *work.MESSAGES)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("case", cases(accepted=True), ids=str)
def test_the_accepted_corpus_is_taken_and_survives_a_wire(case: Case) -> None:
    message = case.kind.parse(case.payload)
    assert case.kind.parse(message) is message
    assert case.kind.parse(json.loads(json.dumps(message.wire()))) == message


@pytest.mark.parametrize("case", cases(accepted=False), ids=str)
def test_the_rejected_corpus_is_refused_by_field(case: Case) -> None:
    with pytest.raises(InvalidError) as refusal:
        case.kind.parse(case.payload)
    assert case.field in {None, refusal.value.details["field"]}
    assert str(refusal.value).startswith(f"{case.kind.channel}: ")


def test_the_corpus_holds_both_verdicts_on_every_message() -> None:
    named = [*vars(messages).values(), *vars(work).values()]
    listed = {kind for kind in named if isinstance(kind, type) and issubclass(kind, Message)}
    declared = listed - {Message, messages.Closed}
    assert declared == {*MESSAGES, Setting}
    taken = {case.kind for case in cases(accepted=True)}
    refused = {case.kind for case in cases(accepted=False)}
    assert taken == declared
    # A query that names nothing but a session is refused in the same words as any other.
    assert refused >= declared - {messages.SettingsQuery}


def test_every_channel_has_a_message_and_every_message_a_channel() -> None:
    named = {value for value in vars(messages).values() if isinstance(value, str) and value.startswith("pi-persona:")}
    assert {kind.channel for kind in MESSAGES} == named
    assert all(channel.endswith(":v1") for channel in named)


@pytest.mark.parametrize("kind", MESSAGES, ids=lambda kind: kind.__name__)
@settings(max_examples=40)
@given(payload=JSON)
def test_no_payload_does_more_than_be_refused(kind: type[Message], payload: object) -> None:
    with suppress(InvalidError):
        kind.parse(payload)


@pytest.mark.parametrize("case", [case for case in cases(accepted=True) if case.payload], ids=str)
@settings(max_examples=20)
@given(data=st.data())
def test_one_field_gone_wrong_never_raises_anything_else(case: Case, data: st.DataObject) -> None:
    field = data.draw(st.sampled_from(sorted(case.payload)))
    payload = {**case.payload, field: data.draw(JSON)}
    with suppress(InvalidError):
        assert case.kind.parse(payload).channel == case.kind.channel


class HostileMapping(Mapping[str, Any]):
    """A mapping that raises whenever it is looked into."""

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - a mapping's signature
        raise ZeroDivisionError(key)

    def __iter__(self) -> Iterator[str]:
        raise ZeroDivisionError

    def __len__(self) -> int:
        raise ZeroDivisionError


def deep() -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(100_000):
        value = {"x": value}
    return value


def circular() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["x"] = value
    return value


@pytest.mark.parametrize(
    "payload",
    [HostileMapping(), {"sessionId": b"s"}, {"sessionId": {1}}, {"sessionId": "\ud800"}, circular(), object(), {3: 4}],
    ids=["hostile", "bytes", "set", "surrogate", "circular", "object", "number for a name"],
)
def test_a_hostile_payload_is_refused_like_any_other(payload: object) -> None:
    with pytest.raises(InvalidError):
        CompanionQuery.parse(payload)


def test_a_deep_payload_is_refused() -> None:
    with pytest.raises(InvalidError):
        CompanionQuery.parse(deep())


def test_a_refusal_never_repeats_what_was_sent() -> None:
    with pytest.raises(InvalidError) as refusal:
        CompanionQuery.parse({"sessionId": "s", "hunter2": "swordfish"})
    with pytest.raises(InvalidError) as other:
        OwnerReply.parse({"provider": "swordfish", "sessionId": ["swordfish"], "seat": "main", "ready": "swordfish"})
    for error in (refusal.value, other.value):
        assert "hunter2" not in f"{error}{error.details}"
        assert "swordfish" not in f"{error}{error.details}"


def test_a_message_cannot_be_changed() -> None:
    query = CompanionQuery(session_id="s")
    with pytest.raises(ValidationError):
        query.session_id = "t"  # type: ignore[misc]
