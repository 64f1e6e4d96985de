"""Pi's logs name no persona with a message: an entry above it on its branch does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.logformat import MAX_LINE
from persona_hooks.owner import SPEAKER
from tests.sessions.test_sessions import texts

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sessions.conftest import PiHeld, Talk

ANN, BOB = "Ann", "Bob"


def spoken(number: int, parent: int | None, text: str) -> dict[str, Any]:
    message = {"role": "user", "content": text}
    return {**step(number, parent), "type": "message", "message": message}


def speaker(number: int, parent: int | None, persona: str | None) -> dict[str, Any]:
    return {**step(number, parent), "type": "custom", "customType": SPEAKER, "data": {"persona": persona}}


def step(number: int, parent: int | None) -> dict[str, Any]:
    above = None if parent is None else f"{parent:08x}"
    return {
        "id": f"{number:08x}",
        "parentId": above,
        "timestamp": f"2026-03-01T10:{number:02d}:00.000Z",
        "type": "label",
    }


def write(path: Path, *entries: dict[str, Any]) -> None:
    header = path.read_text("utf-8").splitlines()[0]
    path.write_text("\n".join([header, *map(json.dumps, entries), ""]), "utf-8")


def seen(talk: Talk, persona: str | None) -> set[str]:
    return {text.partition(":")[0] for text in texts(talk(persona=persona), "port")}


def test_each_persona_finds_what_was_said_to_it_and_to_nobody_known(talk: Talk, pi_held: PiHeld) -> None:
    write(
        pi_held("pi"),
        spoken(1, None, "long ago: port 1"),
        speaker(2, 1, ANN),
        spoken(3, 2, "to ann: port 2"),
        step(4, 3),
        spoken(5, 4, "to ann again: port 3"),
        speaker(6, 5, BOB),
        spoken(7, 6, "to bob: port 4"),
        speaker(8, 7, None),
        spoken(9, 8, "to nobody: port 5"),
    )
    assert seen(talk, ANN) == {"long ago", "to ann", "to ann again"}
    assert seen(talk, BOB) == {"long ago", "to bob"}
    assert seen(talk, "none") == {"long ago", "to nobody"}


def test_what_counts_is_the_branch_and_not_the_order_in_the_file(talk: Talk, pi_held: PiHeld) -> None:
    write(
        pi_held("pi"),
        speaker(1, None, ANN),
        spoken(2, 1, "to ann: port 1"),
        speaker(3, 2, BOB),
        spoken(4, 3, "to bob: port 2"),
        spoken(5, 2, "to ann on a branch: port 3"),
        spoken(6, 4, "to bob again: port 4"),
    )
    assert seen(talk, ANN) == {"to ann", "to ann on a branch"}
    assert seen(talk, BOB) == {"to bob", "to bob again"}


def test_a_log_that_grows_goes_on_from_where_it_was(talk: Talk, pi_held: PiHeld) -> None:
    path = pi_held("pi")
    write(path, speaker(1, None, ANN), spoken(2, 1, "to ann: port 1"))
    assert seen(talk, BOB) == set()
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(spoken(3, 2, "to ann later: port 2")) + "\n")
    assert seen(talk, BOB) == set()
    assert seen(talk, ANN) == {"to ann", "to ann later"}


LOST: dict[str, bytes] = {
    "torn": b'{"type":"custom","id":"00000003","parentId":"00000002","ty',
    "not UTF-8": b'{"id":"00000003","parentId":"00000002","type":"label","label":"\xff"}',
    "too deep": b'{"id":"00000003","parentId":"00000002","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "too long": b'{"id":"00000003","parentId":"00000002","x":"' + b"A" * MAX_LINE + b'"}',
    "no object": b'["00000003"]',
    "not there": b"",
    "without an id": json.dumps({**step(3, 2), "id": 3}).encode(),
    "a speaker without a name": json.dumps({**speaker(3, 2, None), "data": {}}).encode(),
    "a speaker of another form": json.dumps({**speaker(3, 2, None), "data": {"persona": 5}}).encode(),
    "a speaker without data": json.dumps({**speaker(3, 2, None), "data": "x"}).encode(),
}


@pytest.mark.parametrize("line", LOST.values(), ids=LOST)
def test_what_hangs_from_a_line_that_cannot_be_read_is_shown_to_nobody(
    talk: Talk, pi_held: PiHeld, line: bytes
) -> None:
    path = pi_held("pi")
    write(path, spoken(0, None, "long ago: port 0"), speaker(1, 0, ANN), spoken(2, 1, "to ann: port 1"))
    with path.open("ab") as file:
        file.write(line + b"\n")
        for entry in (spoken(4, 3, "lost: port 2"), spoken(5, 4, "lost below: port 3"), speaker(6, 5, BOB)):
            file.write(json.dumps(entry).encode() + b"\n")
        file.write(json.dumps(spoken(7, 6, "to bob: port 4")).encode() + b"\n")
    assert seen(talk, ANN) == {"long ago", "to ann"}
    assert seen(talk, BOB) == {"long ago", "to bob"}
    assert seen(talk, "none") == {"long ago"}


def test_a_line_that_cannot_be_read_may_have_been_the_first_to_name_somebody(talk: Talk, pi_held: PiHeld) -> None:
    path = pi_held("pi")
    write(path, spoken(1, None, "long ago: port 1"))
    with path.open("ab") as file:
        file.write(LOST["torn"] + b"\n" + json.dumps(spoken(4, 3, "lost: port 2")).encode() + b"\n")
    assert seen(talk, ANN) == seen(talk, BOB) == {"long ago"}


@pytest.mark.parametrize("role", ["user", "toolResult"])
def test_below_a_message_of_pis_that_is_too_long_the_conversation_goes_on(
    talk: Talk, pi_held: PiHeld, role: str
) -> None:
    path = pi_held("pi")
    write(path, speaker(1, None, ANN), spoken(2, 1, "to ann: port 1"))
    place = {"type": "message", "id": f"{3:08x}", "parentId": f"{2:08x}", "timestamp": "2026-03-01T10:03:00.000Z"}
    picture = {**place, "message": {"role": role, "content": [{"type": "image", "data": "A" * MAX_LINE}]}}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(picture, separators=(",", ":")) + "\n")
        file.write(json.dumps(spoken(4, 3, "to ann again: port 2")) + "\n")
    assert seen(talk, ANN) == {"to ann", "to ann again"}
    assert seen(talk, BOB) == set()


def test_once_somebody_is_named_a_branch_of_its_own_is_shown_to_nobody(talk: Talk, pi_held: PiHeld) -> None:
    write(
        pi_held("pi"),
        spoken(1, None, "long ago: port 1"),
        speaker(2, None, ANN),
        spoken(3, None, "from the root: port 2"),
        spoken(4, 77, "from nowhere: port 3"),
        spoken(5, 5, "from itself: port 4"),
        spoken(6, 1, "after long ago: port 5"),
    )
    assert seen(talk, ANN) == seen(talk, BOB) == {"long ago", "after long ago"}


def test_below_an_id_that_stands_twice_nothing_is_shown(talk: Talk, pi_held: PiHeld) -> None:
    write(
        pi_held("pi"),
        speaker(1, None, ANN),
        spoken(2, 1, "to ann: port 1"),
        speaker(3, 1, BOB),
        spoken(2, 3, "to bob: port 2"),
        spoken(4, 2, "to either: port 3"),
        speaker(3, 1, ANN),
        spoken(5, 3, "to either again: port 4"),
    )
    assert (seen(talk, ANN), seen(talk, BOB)) == ({"to ann"}, {"to bob"})


def test_messages_that_a_later_speaker_doubts_are_shown_to_nobody(talk: Talk, pi_held: PiHeld) -> None:
    late = speaker(5, 4, BOB)
    late["data"]["doubted"] = [f"{3:08x}", f"{4:08x}", 5]
    path = pi_held("pi")
    write(path, speaker(1, None, ANN), spoken(2, 1, "to ann: port 1"), spoken(3, 2, "to bob early: port 2"))
    assert seen(talk, ANN) == {"to ann", "to bob early"}
    with path.open("a", encoding="utf-8") as file:
        for entry in (
            spoken(4, 3, "to bob too: port 3"),
            late,
            spoken(6, 5, "to bob: port 4"),
            spoken(7, 3, "x: port 5"),
        ):
            file.write(json.dumps(entry) + "\n")
    assert (seen(talk, ANN), seen(talk, BOB)) == ({"to ann"}, {"to bob"})
