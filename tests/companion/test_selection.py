"""Who speaks in a session: the order of the sources, and what happens when the one asked for cannot be had."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from persona_companion.legs import LEG_PERSONA, leg_environment, leg_payload, scrubbed
from persona_hooks.errors import InvalidError, RefusedError
from tests.support.desk import Start, files_below, write_brief

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def three(personas: Path) -> Path:
    for name in ("flagged", "pinned", "remembered"):
        write_brief(personas, name)
    return personas


def remember(agent_dir: Path, name: object) -> None:
    (agent_dir / "persona" / "settings.json").write_text(json.dumps({"persona": {"lastPersona": name}}))


def test_the_flag_comes_before_the_pin_the_pin_before_the_remembered_choice_and_none_last(
    start: Start, three: Path, agent_dir: Path
) -> None:
    del three
    plain, pinned = start(), start(PI_PERSONA_DEFAULT="pinned")
    plain.open()
    assert plain.owner.persona is None
    remember(agent_dir, "remembered")
    plain.open()
    assert plain.owner.persona == "remembered"
    pinned.open()
    assert pinned.owner.persona == "pinned"
    pinned.open(persona="flagged")
    assert pinned.owner.persona == "flagged"


@pytest.mark.parametrize("blank", ["", "   "])
def test_a_blank_flag_or_pin_asks_for_nobody_in_particular(
    start: Start, three: Path, agent_dir: Path, blank: str
) -> None:
    del three
    remember(agent_dir, "remembered")
    desk = start(PI_PERSONA_DEFAULT=blank)
    desk.open(persona=blank)
    assert desk.owner.persona == "remembered"


def test_the_word_none_asks_for_no_persona(start: Start, three: Path, agent_dir: Path) -> None:
    del three
    remember(agent_dir, "remembered")
    desk = start()
    desk.open(persona="None")
    assert desk.owner.persona is None


@pytest.mark.parametrize("source", ["flag", "pin", "remembered"])
def test_a_persona_that_cannot_be_had_closes_memory_and_says_how_to_open_it(
    start: Start, three: Path, agent_dir: Path, source: str
) -> None:
    del three
    if source == "remembered":
        remember(agent_dir, "gone")
    desk = start(**({"PI_PERSONA_DEFAULT": "gone"} if source == "pin" else {}))
    desk.open(persona="gone" if source == "flag" else None)
    with pytest.raises(RefusedError, match="There are: flagged, pinned, remembered") as caught:
        _ = desk.owner
    assert caught.value.reason == "owner_not_ready"
    assert desk.runtime.tools("model") == []
    assert desk.runtime.blocks("hello") == []
    assert desk.notices.lines == [caught.value.message]
    card = desk.say("/persona").card
    assert (card.title, card.level) == ("Memory is closed: nobody speaks here.", "warning")
    assert desk.say("/persona use pinned").ok
    assert desk.owner.persona == "pinned"


def test_no_persona_at_all_can_be_chosen_where_memory_was_closed(start: Start, personas: Path, agent_dir: Path) -> None:
    del personas
    remember(agent_dir, "gone")
    desk = start()
    desk.open()
    assert desk.say("/persona none").ok
    assert desk.owner.persona is None
    assert start().open() is not None
    assert json.loads((agent_dir / "persona" / "settings.json").read_text()) == {"persona": {}}


def test_a_damaged_remembered_choice_closes_memory_instead_of_meaning_nobody(
    start: Start, three: Path, agent_dir: Path
) -> None:
    del three
    remember(agent_dir, 5)
    desk = start()
    desk.open()
    with pytest.raises(RefusedError, match=r"settings\.json: persona\.lastPersona"):
        _ = desk.owner
    assert len(desk.notices.lines) == 1
    desk.open(persona="flagged")
    assert desk.owner.persona == "flagged"


def test_a_session_without_a_persona_reads_no_brief(start: Start, personas: Path) -> None:
    write_brief(personas, "bad", "prompt: [\n")
    desk = start()
    desk.open()
    assert desk.owner.persona is None
    assert desk.notices.lines == []


def test_start_up_listing_and_reading_make_no_file(start: Start, home: Path) -> None:
    desk = start()
    desk.open()
    for line in ("/persona", "/persona doctor", "/persona show x", "/persona show", "/persona none", "/persona use x"):
        desk.say(line)
    desk.runtime.settings()
    assert files_below(home) == []


def test_a_leg_is_its_launcher_s_whatever_is_chosen_meanwhile(start: Start, three: Path, agent_dir: Path) -> None:
    del three
    remember(agent_dir, "remembered")
    launched = leg_environment({"PI_PERSONA_DEFAULT": "pinned", "PATH": "/bin"}, "flagged")
    assert launched == {
        "PATH": "/bin",
        "PI_PERSONA_LEG": "1",
        "PI_PERSONA_LEG_PERSONA": '{"version":1,"persona":"flagged"}',
    }
    leg = start(**launched, PI_PERSONA_DEFAULT="pinned")
    leg.open(persona="pinned")
    parent = start()
    parent.open()
    assert parent.say("/persona use pinned").ok
    assert (leg.owner.persona, leg.owner.leg) == ("flagged", True)
    assert leg.say("/persona use pinned").details["reason"] == "frozen_persona"
    assert leg.say("/persona none").details["reason"] == "frozen_persona"
    assert leg.owner.persona == "flagged"


def test_a_leg_of_no_persona_is_nobody_s_although_a_choice_is_remembered(
    start: Start, three: Path, agent_dir: Path
) -> None:
    del three
    remember(agent_dir, "remembered")
    leg = start(**leg_environment({}, None))
    leg.open()
    assert leg.owner.persona is None


def test_a_leg_that_was_told_nothing_does_not_guess(start: Start, three: Path, agent_dir: Path) -> None:
    del three
    leg = start(PI_PERSONA_LEG="1")
    leg.open()
    assert leg.owner.persona is None
    leg.open(persona="flagged")
    assert leg.owner.persona == "flagged"
    remember(agent_dir, "remembered")
    leg.open()
    with pytest.raises(RefusedError, match=LEG_PERSONA):
        _ = leg.owner


def test_only_a_leg_reads_a_leg_s_payload(start: Start, three: Path) -> None:
    del three
    desk = start(PI_PERSONA_LEG_PERSONA='{"version":1,"persona":"flagged"}')
    desk.open()
    assert desk.owner.persona is None


@pytest.mark.parametrize(
    "payload",
    [
        "kiri",
        "{}",
        '{"version":2,"persona":"k"}',
        '{"version":1,"persona":"k","x":1}',
        '{"version":1,"persona":5}',
        "[" * 9999,
    ],
)
def test_a_payload_that_is_not_understood_closes_the_leg_s_memory(start: Start, three: Path, payload: str) -> None:
    del three
    with pytest.raises(InvalidError) as caught:
        leg_payload({LEG_PERSONA: payload})
    assert caught.value.details == {"field": LEG_PERSONA}
    leg = start(PI_PERSONA_LEG="1", PI_PERSONA_LEG_PERSONA=payload)
    leg.open(persona="flagged")
    with pytest.raises(RefusedError, match=LEG_PERSONA):
        _ = leg.owner


def test_what_was_meant_for_one_process_is_not_inherited() -> None:
    leg = leg_environment({"A": "1"}, "kiri")
    assert scrubbed({**leg, "PI_PERSONA_CHILD": "1"}) == {"A": "1"}


def test_a_choice_survives_the_reload_of_its_session_and_not_a_new_one(start: Start, three: Path) -> None:
    del three
    desk = start(PI_PERSONA_DEFAULT="pinned")
    desk.open("s1")
    desk.say("/persona use flagged")
    desk.open("s1", reason="reload")
    assert desk.owner.persona == "flagged"
    desk.open("s2", reason="new")
    assert desk.owner.persona == "pinned"
