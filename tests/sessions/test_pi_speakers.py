"""Pi's logs name no persona with a message: an entry above it on its branch does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

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


def test_a_speaker_in_a_form_unknown_here_says_nothing_new(talk: Talk, pi_held: PiHeld) -> None:
    odd = speaker(2, 1, ANN) | {"data": {"persona": 5}}
    write(pi_held("pi"), speaker(1, None, BOB), odd, spoken(3, 2, "to bob: port 1"))
    assert (seen(talk, ANN), seen(talk, BOB)) == (set(), {"to bob"})
