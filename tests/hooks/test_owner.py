"""Whose memory is this? Everything but one clear answer is a refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.bus import Bus, BusClient
from persona_hooks.errors import ConflictError, PersonaError, RefusedError
from persona_hooks.messages import (
    COMPANION,
    MEMORY_OWNER,
    MEMORY_OWNER_CHANGED,
    CompanionQuery,
    CompanionReply,
    OwnerChanged,
    OwnerReply,
)
from persona_hooks.owner import Owner, live_owner
from tests.support.corpus import cases

if TYPE_CHECKING:
    from collections.abc import Callable

Reports = list[tuple[str, str, Exception]]


@pytest.fixture
def reports() -> Reports:
    return []


@pytest.fixture
def bus(reports: Reports) -> Bus:
    return Bus(report=lambda *item: reports.append(item))


@pytest.fixture
def mind(bus: Bus) -> BusClient:
    return bus.client("persona_mind")


COMPANION_REPLY: dict[str, Any] = {"provider": "c", "contract": 1, "release": "1", "sessionId": "s"}
OWNER_REPLY: dict[str, Any] = {"provider": "c", "sessionId": "s", "seat": "main", "ready": True, "persona": "Ann"}


def raising(error: BaseException) -> Callable[[object], object]:
    def handler(_: object) -> object:
        raise error

    return handler


def companion(bus: Bus, name: str = "c", *, reply: object = COMPANION_REPLY, owner: object = OWNER_REPLY) -> BusClient:
    """Load a companion that answers with the given payloads, calling those that can be called."""
    client = bus.client(name)
    for channel, payload in ((COMPANION, reply), (MEMORY_OWNER, owner)):
        if payload is not None:
            client.provide(channel, payload if callable(payload) else lambda _, payload=payload: payload)
    return client


def reason(mind: BusClient) -> str:
    with pytest.raises(RefusedError) as refusal:
        live_owner(mind, "s", "main")
    assert refusal.value.changed == "no"
    return refusal.value.reason


def test_one_companion_that_answers_for_this_seat_names_the_owner(bus: Bus, mind: BusClient) -> None:
    companion(bus)
    assert live_owner(mind, "s", "main") == Owner("c", "s", "main", "Ann")


def test_replies_may_be_messages_as_well_as_their_wire_form(bus: Bus, mind: BusClient) -> None:
    companion(bus, reply=CompanionReply.parse(COMPANION_REPLY), owner=OwnerReply.parse(OWNER_REPLY))
    assert live_owner(mind, "s", "main").persona == "Ann"


def test_no_persona_is_an_owner_of_its_own_and_a_leg_is_known(bus: Bus, mind: BusClient) -> None:
    companion(bus, owner={**OWNER_REPLY, "persona": None, "leg": True})
    assert live_owner(mind, "s", "main") == Owner("c", "s", "main", None, leg=True)


def test_without_a_companion_memory_is_off(mind: BusClient) -> None:
    assert reason(mind) == "no_companion"


def test_a_companion_with_nothing_to_say_is_none(bus: Bus, mind: BusClient) -> None:
    companion(bus, reply=lambda _: None)
    assert reason(mind) == "no_companion"


def test_two_companions_are_ambiguous_even_if_they_agree(bus: Bus, mind: BusClient) -> None:
    companion(bus, "c")
    companion(bus, "d")
    assert reason(mind) == "ambiguous_companion"


def test_a_second_companion_that_raises_is_not_silence(bus: Bus, mind: BusClient) -> None:
    companion(bus)
    companion(bus, "d", reply=raising(ValueError("x")), owner=None)
    assert reason(mind) == "ambiguous_companion"


def test_two_owners_are_ambiguous(bus: Bus, mind: BusClient) -> None:
    companion(bus)
    bus.client("thief").provide(MEMORY_OWNER, lambda _: OWNER_REPLY)
    assert reason(mind) == "ambiguous_owner"


def test_who_registered_an_owner_counts_and_not_what_it_says_of_itself(bus: Bus, mind: BusClient) -> None:
    companion(bus, owner=None)
    bus.client("thief").provide(MEMORY_OWNER, lambda _: OWNER_REPLY)
    assert reason(mind) == "foreign_owner"


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({"owner": None}, "no_owner"),
        ({"owner": {**OWNER_REPLY, "ready": False}}, "owner_not_ready"),
        ({"reply": raising(ValueError("x"))}, "companion_failed"),
        ({"owner": raising(ValueError("x"))}, "companion_failed"),
        ({"reply": {**COMPANION_REPLY, "contract": 2}}, "incompatible_companion"),
        ({"owner": {"ready": True}}, "incompatible_companion"),
        ({"owner": "Ann"}, "incompatible_companion"),
        ({"reply": {**COMPANION_REPLY, "sessionId": "t"}}, "foreign_owner"),
        ({"owner": {**OWNER_REPLY, "sessionId": "t"}}, "foreign_owner"),
        ({"owner": {**OWNER_REPLY, "seat": "guest"}}, "foreign_owner"),
        ({"owner": {**OWNER_REPLY, "provider": "d"}}, "foreign_owner"),
        ({"owner": {**OWNER_REPLY, "persona": "A\x1b[31m"}}, "incompatible_companion"),
        ({"owner": {**OWNER_REPLY, "persona": "A\x00"}}, "incompatible_companion"),
        ({"owner": {**OWNER_REPLY, "persona": "A\x9b"}}, "incompatible_companion"),
        ({"owner": {**OWNER_REPLY, "persona": "A\n"}}, "incompatible_companion"),
    ],
)
def test_an_answer_that_is_not_clear_is_a_refusal(
    answers: dict[str, object], expected: str, bus: Bus, mind: BusClient
) -> None:
    companion(bus, **answers)  # type: ignore[arg-type]
    assert reason(mind) == expected


@pytest.mark.parametrize("case", cases(CompanionReply, accepted=False), ids=str)
def test_every_rejected_companion_reply_turns_memory_off(case: Any, bus: Bus, mind: BusClient) -> None:  # noqa: ANN401
    companion(bus, reply=case.payload)
    assert reason(mind) == "incompatible_companion"


@pytest.mark.parametrize("case", cases(OwnerReply, accepted=False), ids=str)
def test_every_rejected_owner_reply_turns_memory_off(case: Any, bus: Bus, mind: BusClient) -> None:  # noqa: ANN401
    companion(bus, owner=case.payload)
    assert reason(mind) == "incompatible_companion"


def test_a_verb_that_opens_memory_may_ask_before_it_is_ready(bus: Bus, mind: BusClient) -> None:
    companion(bus, owner={**OWNER_REPLY, "ready": False})
    assert live_owner(mind, "s", "main", before_ready=True).persona == "Ann"


def test_a_companion_may_say_why_it_is_not_ready(bus: Bus, mind: BusClient) -> None:
    companion(bus, owner={**OWNER_REPLY, "ready": False, "reason": "The settings cannot be read."})
    with pytest.raises(RefusedError, match="settings cannot be read"):
        live_owner(mind, "s", "main")


def test_the_owner_is_asked_for_anew_every_time(bus: Bus, mind: BusClient) -> None:
    personas = iter(["Ann", "Bob"])
    companion(bus, owner=lambda _: {**OWNER_REPLY, "persona": next(personas)})
    assert [live_owner(mind, "s", "main").persona for _ in range(2)] == ["Ann", "Bob"]


def test_a_refusal_never_repeats_what_a_companion_raised(bus: Bus, mind: BusClient) -> None:
    companion(bus, reply=raising(ValueError("the text of a memory")))
    with pytest.raises(RefusedError) as refusal:
        live_owner(mind, "s", "main")
    assert "text of a memory" not in str(refusal.value)


# --- the bus itself


def test_a_companion_that_was_released_does_not_answer_beside_its_successor(bus: Bus, mind: BusClient) -> None:
    old = companion(bus)
    old.release()
    companion(bus)
    assert live_owner(mind, "s", "main").persona == "Ann"


def test_a_plugin_is_released_by_name_with_all_its_handles(bus: Bus, mind: BusClient) -> None:
    for _ in range(3):
        companion(bus)
    bus.release("c")
    assert reason(mind) == "no_companion"


def test_a_released_handle_registers_nothing_more(bus: Bus, mind: BusClient) -> None:
    old = companion(bus)
    old.release()
    with pytest.raises(ConflictError) as refusal:
        old.provide(COMPANION, lambda _: COMPANION_REPLY)
    with pytest.raises(ConflictError):
        old.on(COMPANION, lambda _: None)
    assert refusal.value.reason == "stale_plugin"
    assert reason(mind) == "no_companion"


def test_one_registration_can_be_taken_back_alone(bus: Bus, mind: BusClient) -> None:
    client = bus.client("c")

    def handler(_: object) -> object:
        return COMPANION_REPLY

    first, second = (client.provide(COMPANION, handler) for _ in range(2))
    assert len(mind.query(CompanionQuery(session_id="s"))) == 2
    first()
    first()
    assert len(mind.query(CompanionQuery(session_id="s"))) == 1
    second()
    assert mind.query(CompanionQuery(session_id="s")) == []


CHANGED = OwnerChanged(provider="c", session_id="s", seat="main", ready=True, persona="Ann")


def test_a_listener_that_raises_is_reported_and_the_others_hear(bus: Bus, reports: Reports) -> None:
    heard: list[object] = []
    error = ValueError("x")
    bus.client("bad").on(MEMORY_OWNER_CHANGED, raising(error))
    bus.client("good").on(MEMORY_OWNER_CHANGED, heard.append)
    bus.client("c").publish(CHANGED)
    assert heard == [CHANGED]
    assert reports == [("bad", MEMORY_OWNER_CHANGED, error)]


def test_a_listener_may_publish_query_and_unsubscribe_while_it_is_called(bus: Bus, mind: BusClient) -> None:
    heard: list[object] = []
    companion(bus)

    def listener(message: object) -> None:
        stop()
        heard.append(mind.query(CompanionQuery(session_id="s"))[0].payload)
        mind.publish(CHANGED)
        heard.append(message)

    stop = mind.on(MEMORY_OWNER_CHANGED, listener)
    mind.publish(CHANGED)
    assert heard == [COMPANION_REPLY, CHANGED]


def test_asking_leaves_out_what_is_malformed_and_reports_it(bus: Bus, mind: BusClient, reports: Reports) -> None:
    companion(bus)
    companion(bus, "bad", reply={**COMPANION_REPLY, "contract": 9})
    companion(bus, "worse", reply=raising(ValueError("x")))
    answers = mind.ask(CompanionQuery(session_id="s"), CompanionReply)
    assert [answer.provider for answer in answers] == ["c"]
    assert [(plugin, isinstance(error, PersonaError)) for plugin, _, error in reports] == [
        ("bad", True),
        ("worse", False),
    ]
