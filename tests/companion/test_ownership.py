"""What the companion says on the bus, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from persona_companion.ownership import RELEASE
from persona_hooks.errors import RefusedError
from persona_hooks.messages import CompanionQuery, CompanionReply, OwnerQuery, OwnerReply, SettingsQuery
from persona_hooks.owner import live_owner
from tests.support.desk import Desk, Start, files_below, write_brief

if TYPE_CHECKING:
    from pathlib import Path


def owner_of(desk: Desk, session_id: str, seat: str = "main") -> OwnerReply:
    (reply,) = desk.client.ask(OwnerQuery(session_id=session_id, seat=seat), OwnerReply)
    return reply


def test_the_owner_is_ready_from_the_start_of_its_session_to_its_end_and_not_before_or_after(start: Start) -> None:
    desk = start()
    before = owner_of(desk, "s1")
    assert (before.ready, before.persona) == (False, None)
    assert "not finished starting" in before.reason
    desk.open("s1")
    assert owner_of(desk, "s1").ready
    desk.runtime.shut_session()
    assert not owner_of(desk, "s1").ready


def test_the_owner_is_bound_to_its_session_and_seat(start: Start) -> None:
    desk = start()
    desk.open("s1")
    assert not owner_of(desk, "s2").ready
    assert not owner_of(desk, "s1", "guest").ready
    with pytest.raises(RefusedError):
        live_owner(desk.client, "s2", "main")


def test_a_companion_says_which_contract_it_speaks(start: Start) -> None:
    (reply,) = start().client.ask(CompanionQuery(session_id="any"), CompanionReply)
    assert (reply.contract, reply.release, reply.session_id) == (1, RELEASE, "any")


def test_becoming_ready_switching_and_ending_are_announced_once_each(start: Start, personas: Path) -> None:
    write_brief(personas, "kiri")
    desk = start()
    desk.open("s1")
    desk.say("/persona use kiri")
    desk.say("/persona use kiri")
    desk.say("/persona none")
    desk.runtime.shut_session()
    assert [(news.session_id, news.ready, news.persona) for news in desk.news] == [
        ("s1", True, None),
        ("s1", True, "kiri"),
        ("s1", True, None),
        ("s1", False, None),
    ]


def test_whoever_hears_the_news_and_asks_gets_the_new_owner(start: Start, personas: Path) -> None:
    write_brief(personas, "kiri")
    desk = start()
    heard: list[OwnerReply] = []
    desk.client.on("pi-persona:memory-owner-changed:v1", lambda _: heard.append(owner_of(desk, "s1")))
    desk.open("s1")
    desk.say("/persona use kiri")
    desk.runtime.shut_session()
    assert [(reply.ready, reply.persona) for reply in heard] == [(True, None), (True, "kiri"), (False, None)]


def test_a_late_shutdown_of_an_older_runtime_leaves_the_newer_one_its_owner(start: Start) -> None:
    desk = start()
    old = desk.open("s1")
    desk.open("s1", reason="reload")
    desk.runtime._dispatcher.call("session_shutdown", session=old)
    assert owner_of(desk, "s1").ready


def test_a_verb_of_a_replaced_session_is_refused(start: Start, personas: Path) -> None:
    write_brief(personas, "kiri")
    desk = start()
    old = desk.open("s1")
    desk.open("s1", reason="reload")
    answer = desk.runtime.call("persona.use", {"name": "kiri"}, session=old, origin="user", audience="person")
    assert (answer.ok, answer.details["reason"]) == (False, "stale_session")
    assert desk.owner.persona is None


def test_two_companions_close_memory_for_every_verb_and_the_choice_of_a_persona(start: Start) -> None:
    desk = start()
    desk.open("s1")
    desk.client.provide(
        "pi-persona:companion:v1",
        lambda _: {"provider": "other", "contract": 1, "release": "9", "sessionId": "s1"},
    )
    for line in ("/persona", "/persona none", "/persona doctor"):
        assert desk.say(line).details["reason"] == "ambiguous_companion"


@pytest.mark.parametrize("value", ["1", "true", "YES", "on", "anything"])
def test_a_disabled_companion_answers_nothing_and_makes_nothing(start: Start, home: Path, value: str) -> None:
    desk = start(PI_PERSONA_DISABLE=value)
    session = desk.open("s1", persona="kiri")
    assert desk.client.query(CompanionQuery(session_id="s1")) == []
    assert desk.client.query(OwnerQuery(session_id="s1")) == []
    assert desk.client.query(SettingsQuery(session_id="s1")) == []
    for verb in desk.runtime.registry:
        arguments = {"name": "kiri"} if verb.name == "persona.use" else {}
        answer = desk.runtime.call(verb.name, arguments, session=session, origin="user", audience="person")
        assert (answer.ok, answer.changed, answer.details["reason"]) == (False, "no", "no_companion")
    assert desk.runtime.blocks("hello") == []
    assert desk.news == []
    assert files_below(home) == []


@pytest.mark.parametrize("value", ["0", "off", "false", "no", " "])
def test_a_plain_no_leaves_the_companion_enabled(start: Start, value: str) -> None:
    desk = start(PI_PERSONA_DISABLE=value)
    desk.open("s1")
    assert owner_of(desk, "s1").ready
