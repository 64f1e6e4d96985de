"""Every word that a person sees goes through the gate: spoken by a catalogue that brackets what it words.

Whatever stands outside of the brackets is data, or it was forgotten.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from persona_hooks.tools import parameters
from persona_host.embedded.host import EmbeddedHost
from persona_host.embedded.plain import answer
from persona_host.place import Place
from tests.speech.bracketing import FORMS, LANGUAGE, OPEN, SAID, ask, lines, outside, speaking, stores, unworded
from tests.support.embedded import RecordingScreen
from tests.support.sweeping import plausible, shipped, verbs

if TYPE_CHECKING:
    from pathlib import Path

    from persona_hooks.verbs import AnyVerb
    from persona_host.embedded.screen import Event


@pytest.mark.parametrize("verb", verbs(), ids=lambda verb: verb.name)
def test_what_a_verb_says_of_an_empty_memory_is_worded(verb: AnyVerb, home: Path) -> None:
    runtime = speaking(home)
    try:
        told = ask(runtime, verb, **plausible(verb))
    finally:
        runtime.close()
    assert unworded(lines(told.card), *SAID, *stores(), verb.name) == []


@pytest.mark.parametrize("verb", verbs(), ids=lambda verb: verb.name)
def test_what_a_verb_refuses_is_worded(verb: AnyVerb, home: Path) -> None:
    runtime = speaking(home)
    try:
        required = parameters(verb.params).get("required", ())
        told = [ask(runtime, verb, nonsense=1)]
        told += [ask(runtime, verb, **{**plausible(verb), name: 5}) for name in required]
        runtime.command("/mind off")
        told.append(ask(runtime, verb, **plausible(verb)))
    finally:
        runtime.close()
    fields = list(parameters(verb.params)["properties"])
    for answer_ in told:
        if not answer_.ok:
            assert unworded(lines(answer_.card), verb.name, *fields, *SAID) == []
            assert OPEN in answer_.card.title


TOLD = "Staging listens on 5433"
ARCHIVE = '[{"memory": "We deploy on Fridays"}, {"memory": ""}, 7]'
LINES = (
    "/help",
    "/help mind",
    "/help mind recall",
    "/help nothing",
    "/mind",
    f"Remember that {TOLD}.",
    "How are you?",
    "And now?",
    "/mind recall",
    "/mind recall nothing like it --sessions",
    "/mind recall staging --sessions",
    "/mind remember Tabs it is --scope stm --tags style --source docs",
    "/mind read {id}",
    "/mind promote {id}",
    "/mind read {id}",
    "/mind why",
    "/mind why {id}",
    "/mind why --unused",
    "/mind note save Look at the log first",
    "/mind note save Look at the log first",
    "/mind note save --kind objective Ship it",
    "/mind note list",
    "/mind note read {id}",
    "/mind note forget {id}",
    "/mind note forget {id}",
    "/mind note list",
    "/mind note list nothing",
    "/mind note list --help",
    "/mind backlog add Rotate the key --due 1h --tags ops",
    "/mind backlog",
    "/mind backlog --all",
    "/mind backlog --id {id}",
    "/mind backlog take {id}",
    "/mind backlog take {id}",
    "/mind backlog snooze {id} --due 2h",
    "/mind backlog done {id} --note rotated",
    "/mind backlog done {id}",
    "/mind backlog --state done",
    "/mind backlog add Other --due yesterday",
    "/mind backlog add Other --due 05/06/2030",
    "/mind import {import}",
    "/mind import {import} --dry-run",
    "/mind import /nowhere/at/all",
    "/mind export {export}",
    "/mind export {export}",
    "/mind backup {backup}",
    "/mind backups",
    "/mind restore {backup}",
    "/mind restore {backup} --yes",
    "/mind merge",
    "/mind quarantine",
    "/mind doctor",
    "/mind migrate-persona",
    "/mind forget {fact}",
    "/mind forget {fact}",
    "/mind remember The key lies in the safe",
    "/mind erase {id}",
    "/mind remember The key lies in the safe",
    "/mind recal",
    "/mind recall --max 0",
    "/mind recall --nothing",
    "/mind off",
    "/mind off",
    "/mind recall",
    f"Remember that {TOLD}.",
    "/mind on",
    "/persona",
    "/persona show",
    "/persona use nobody",
    "/persona none",
    "/persona doctor",
    "/model",
    "/model nothing",
    "/tree",
    "/tree 00",
    "/fork",
    "/resume",
    "/resume nothing",
    "/new",
)
QUOTED = (
    "Remember that Staging listens on 5…",
    "Remember that Staging listens on 5433",
    "Staging listens on 5433",
    "Tabs it is",
    "style",
    "docs",
    "Look at the log first",
    "Rotate the key",
    "ops",
    "rotated",
    "Ship it",
    "We deploy on Fridays",
    "The key lies in the safe",
    "How are you?",
    "And now?",
    "memory.json",
    "mem0",
)
"""What was typed, and what the files are called."""


def test_a_whole_conversation_is_worded(home: Path, tmp_path: Path) -> None:
    heard = conversation(home, tmp_path, LANGUAGE)
    forgotten = {}
    for line, text in heard:
        told = FORMS.sub("", outside(text)) if "help" in line else text
        if words := unworded(told, *known(home, tmp_path)):
            forgotten[line] = words
    assert forgotten == {}


def known(home: Path, tmp_path: Path) -> tuple[str, ...]:
    return (*QUOTED, *SAID, *stores(), str(home), str(tmp_path), "project")


def conversation(home: Path, tmp_path: Path, language: str) -> list[tuple[str, str]]:
    """Return what each line of a conversation was answered with, and what was noticed meanwhile."""
    cwd = tmp_path / "project"
    cwd.mkdir()
    agent_dir = home / ".pi" / "agent"
    (tmp_path / "memory.json").write_text(ARCHIVE)
    screen = RecordingScreen()
    place = Place(agent_dir, cwd, home, {"HOME": str(home), "LANG": language})
    host = EmbeddedHost.start(place, screen=screen, ui=screen, plugins=shipped, patience=30.0)
    named = {
        "import": tmp_path / "memory.json",
        "export": tmp_path / "out.zip",
        "backup": tmp_path / "copy",
        "fact": "",
    }
    heard: list[tuple[str, str]] = []
    try:
        for line in LINES:
            seen, told = len(screen.events), len(screen.notices)
            answer(host, line.format(**named))
            named |= {name: value for name, value in said_ids(screen, seen).items() if value}
            texts = [told_by(line, event) for event in screen.events[seen:]]
            heard += [(line, text) for text in (*texts, *screen.notices[told:])]
    finally:
        host.close()
    return heard


def said_ids(screen: RecordingScreen, since: int) -> dict[str, str]:
    """Return the id of what was saved last, and that of the first fact."""
    ids = [event.data["id"] for event in screen.events[since:] if isinstance(event.data.get("id"), str)]
    facts = [found for event in screen.of("card") for found in re.findall(r"\[([0-9a-f]{12})\]", event.card.text())]
    return {"id": ids[-1] if ids else "", "fact": facts[0] if facts else ""}


def told_by(line: str, event: Event) -> str:
    """Return the words of an outcome: a snapshot's body, and what no model would have read, are the model's text."""
    if event.kind == "no_model":
        return "\n".join([event.card.title, *event.card.body, *event.card.detail[:1]])
    return lines(event.card, body=line != "/mind")
