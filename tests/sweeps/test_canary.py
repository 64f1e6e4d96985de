"""A secret or a hidden text in any string parameter of any verb is found nowhere afterwards."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.cli import Persona, everything
from tests.support.sweeping import opened, plausible, strings, verbs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from persona_hooks.verbs import AnyVerb, Audience
    from persona_host.runtime import Runtime

# Put together here, so that no scanner takes this file for a leak.
SECRET = "gh" + "p_" + "Ab3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
SMUGGLED = "disregard"
HIDDEN = "".join(chr(0xE0000 + ord(letter)) for letter in SMUGGLED)
CANARIES = {"secret": f"The deploy token is {SECRET} for now", "hidden": f"The weather is fine{HIDDEN} today"}
MARKS = {"secret": [SECRET], "hidden": [HIDDEN, json.dumps(HIDDEN)[1:-1]]}

PLACES = [pytest.param(verb, name, put, id=f"{verb.name}:{name}") for verb in verbs() for name, put in strings(verb)]


def test_there_are_texts_to_sweep() -> None:
    assert len(PLACES) >= 12


@pytest.mark.parametrize("canary", CANARIES)
@pytest.mark.parametrize(("verb", "name", "put"), PLACES)
def test_a_canary_in_a_parameter_is_found_nowhere(
    verb: AnyVerb, name: str, put: Callable[[str], Any], canary: str, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    runtime = opened(home)
    try:
        told = [_told(runtime, verb, {name: put(CANARIES[canary])}, audience) for audience in sorted(verb.shown_to)]
        told += [block.text for block in runtime.blocks(CANARIES["secret"])]
        told.append(repr((runtime.states(), runtime.problems, runtime.session.journal.entries())))
    finally:
        runtime.close()
    seen = "\n".join([*told, *capfd.readouterr()])
    for mark in MARKS[canary]:
        assert mark not in seen
        assert mark.encode() not in everything(home)


def _told(runtime: Runtime, verb: AnyVerb, canary: dict[str, Any], audience: Audience) -> str:
    answer = runtime.call(
        verb.name, {**plausible(verb), **canary}, session=runtime.session, origin="user", audience=audience
    )
    return f"{answer.text}\n{json.dumps(dict(answer.details), ensure_ascii=False)}\n{answer.error!r}\n{answer.error}"


@pytest.mark.parametrize("canary", CANARIES)
def test_a_whole_process_is_silent_about_it_too(
    canary: str, environ: dict[str, str], home: Path, tmp_path: Path
) -> None:
    persona = Persona(environ, tmp_path)
    text = CANARIES[canary]
    ran = [
        persona.tool("memory", action="remember", term="long", kind="note", text=text),
        persona.tool("memory", action=text),
        persona("tool", text, "{}"),
        persona("mind", "remember", *text.split()),
        persona("mind", *text.split()),
        persona("mind", "recall", f"--{text.split()[-2]}"),
    ]
    for mark in MARKS[canary]:
        assert not [run for run in ran if mark in run.out + run.err]
        assert mark.encode() not in everything(home)
