"""A secret, a hidden text or a stranger's order in any string of any verb is found nowhere it should not be."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.verbs import Params, Verb
from persona_store.admission import Refused, admit
from persona_store.secrets_table import FORMATS
from tests.support.canaries import ORDER, canaries
from tests.support.cli import Persona, everything
from tests.support.sweeping import opened, plausible, strings, verbs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from persona_hooks.verbs import Answer, AnyVerb, Audience, Origin
    from persona_host.runtime import Runtime
    from tests.support.canaries import Canary

PLACES = [
    pytest.param(verb, name, put, id=f"{verb.name}:{place}") for verb in verbs() for place, name, put in strings(verb)
]
FIRST = {"github-token", "tag run"}
"""The canaries that are tried at every door; the others take turns."""


def test_there_are_texts_to_sweep() -> None:
    swept = {place.id for place in PLACES}
    assert {"memory.remember:text", "memory.remember:tags[]", "memory.recall:scope[]"} <= swept
    assert {secret.name for secret in FORMATS} <= {canary.name for canary in canaries()}
    assert [canary.name for canary in canaries() if not isinstance(admit(canary.text, "user"), Refused)] == []


def test_a_text_is_put_however_deep_it_may_lie() -> None:
    class Inner(Params):
        """A part."""

        name: str
        words: tuple[str, ...] = ()

    class Deep(Params):
        """Take something deep."""

        parts: tuple[Inner, ...]
        labels: dict[str, str]

    verb: AnyVerb = Verb("deep.take", Deep, "read", _unused, _unused, frozenset({"script"}))
    made = {place: put("x") for place, _, put in strings(verb)}
    assert made == {
        "parts[].name": [{"name": "x"}],
        "parts[].words[]": [{"name": "alpha", "words": ["x"]}],
        "labels{key}": {"x": "alpha"},
        "labels{}": {"alpha": "x"},
    }


@pytest.mark.parametrize(("verb", "name", "put"), PLACES)
def test_a_canary_in_a_parameter_is_found_nowhere(
    verb: AnyVerb, name: str, put: Callable[[str], Any], home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    doors = sorted(verb.shown_to)
    runtime = opened(home)
    told: list[str] = []
    try:
        for number, canary in enumerate(canaries()):
            given = {name: put(canary.text)}
            turns = doors if canary.name in FIRST else [doors[number % len(doors)]]
            told += [_words(_asked(runtime, verb, given, "user", audience)) for audience in turns]
        told += _around(runtime)
    finally:
        runtime.close()
    seen, kept = "\n".join([*told, *capfd.readouterr()]), everything(home)
    assert _leaks(canaries(), seen, kept) == []


@pytest.mark.parametrize(("verb", "name", "put"), PLACES)
def test_a_strangers_order_in_a_parameter_stands_in_quarantine_or_nowhere(
    verb: AnyVerb, name: str, put: Callable[[str], Any], home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    runtime = opened(home)
    try:
        answer = _asked(runtime, verb, {name: put(ORDER)}, "tool", min(verb.shown_to))
        listed = runtime.command("/mind quarantine")
        told = [_words(answer), _words(listed), *_around(runtime)]
    finally:
        runtime.close()
    held = answer.details.get("reason") == "quarantined"
    assert [item["id"] for item in listed.details["items"]] == ([answer.details["id"]] if held else [])
    seen = "\n".join([*told, *capfd.readouterr()])
    assert "Zanzibar" not in seen
    files = [path for path in home.rglob("*") if path.is_file()]
    holding = [path.name for path in files if b"Zanzibar" in path.read_bytes() or "Zanzibar" in path.name]
    assert holding == (["quarantine.json"] if held else [])


def test_what_a_person_types_or_a_model_is_asked_leaves_no_canary_either(
    home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    runtime = opened(home)
    told: list[str] = []
    try:
        for canary in canaries():
            runtime.input(f"Remember that {canary.text}")
            told += [block.text for block in runtime.blocks(canary.text)]
            told += [runtime.command(f"/mind {canary.text}").text]
        told += _around(runtime)
    finally:
        runtime.close()
    assert _leaks(canaries(), "\n".join([*told, *capfd.readouterr()]), everything(home)) == []


def test_a_whole_process_is_silent_about_it_too(environ: dict[str, str], home: Path, tmp_path: Path) -> None:
    persona = Persona(environ, tmp_path)
    chosen = [canary for canary in canaries() if canary.name in FIRST]
    text = " and ".join(canary.text for canary in chosen)
    ran = [
        persona.tool("memory", action="remember", term="long", kind="note", text=text),
        persona.tool("memory", action=text),
        persona("tool", text, "{}"),
        persona("mind", "remember", *text.split()),
        persona("mind", "recall", f"--{text.split()[3]}"),
    ]
    seen = "".join(run.out + run.err for run in ran)
    assert all(run.out + run.err for run in ran)
    assert _leaks(chosen, seen, everything(home)) == []


def _unused(*_: object) -> Any:  # noqa: ANN401 - stands where a verb's functions do
    raise AssertionError("no verb is performed here")


def _asked(runtime: Runtime, verb: AnyVerb, given: dict[str, Any], origin: Origin, audience: Audience) -> Answer:
    arguments = {**plausible(verb), **given}
    return runtime.call(verb.name, arguments, session=runtime.session, origin=origin, audience=audience)


def _words(answer: Answer) -> str:
    return f"{answer.text}\n{json.dumps(dict(answer.details), ensure_ascii=False)}\n{answer.error!r}\n{answer.error}"


def _around(runtime: Runtime) -> list[str]:
    """Return what else may have heard of it: the next request, the state, the session's log."""
    blocks = [block.text for block in runtime.blocks("The weather")]
    return [*blocks, repr((runtime.states(), runtime.problems, runtime.session.journal.entries()))]


def _leaks(looked_for: Iterable[Canary], seen: str, kept: bytes) -> list[str]:
    return [canary.name for canary in looked_for if canary.leaked(seen, kept)]
