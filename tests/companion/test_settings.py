from __future__ import annotations

import errno
import json
import os
from typing import TYPE_CHECKING

import pytest

from persona_companion.roles import resolve
from persona_hooks.errors import CorruptError
from tests.support.desk import Desk, Start, files_below, write_brief

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def file(personas: Path) -> Path:
    for name in ("kiri", "ada"):
        write_brief(personas, name)
    return personas.parent / "settings.json"


def values(desk: Desk) -> dict[str, object]:
    return {key: setting.value for key, setting in desk.runtime.settings().items()}


def sources(desk: Desk) -> dict[str, str]:
    return {key: setting.source for key, setting in desk.runtime.settings().items()}


def test_choosing_a_persona_writes_the_choice_and_nothing_else(start: Start, home: Path, file: Path) -> None:
    desk = start()
    desk.open()
    before = set(files_below(home))
    answer = desk.say("/persona use kiri")
    assert (answer.ok, answer.changed, answer.details["remembered"]) == (True, "yes", True)
    assert json.loads(file.read_text()) == {"persona": {"lastPersona": "kiri"}}
    made = {name for name in set(files_below(home)) - before if ".locks" not in name}
    assert made == {".pi/agent/persona/settings.json"}
    assert file.stat().st_mode & 0o777 == 0o600
    assert desk.say("/persona use kiri").changed == "no"


def test_unknown_keys_of_every_level_are_kept_in_their_order(start: Start, file: Path) -> None:
    old = '"persona": {"future": true, "lastPersona": "ada"}'
    text = f'{{\n  "zeta": [1, 2.50, {{"ü": null}}],\n  {old},\n  "mind": {{"x": 1}}\n}}\n'
    file.write_text(text, encoding="utf-8")
    desk = start()
    desk.open()
    desk.say("/persona use kiri")
    kept = json.loads(file.read_text(encoding="utf-8"))
    assert list(kept) == ["zeta", "persona", "mind"]
    assert kept == {**json.loads(text), "persona": {"future": True, "lastPersona": "kiri"}}
    desk.say("/persona none")
    assert json.loads(file.read_text())["persona"] == {"future": True}


@pytest.mark.parametrize("how", ["setting", "variable"])
def test_where_choices_are_not_remembered_they_hold_for_the_session_alone(start: Start, file: Path, how: str) -> None:
    if how == "setting":
        file.write_text('{"persona": {"persist": false}}')
    desk = start(**({"PI_PERSONA_PERSIST": "off"} if how == "variable" else {}))
    desk.open("s1")
    answer = desk.say("/persona use kiri")
    assert (desk.owner.persona, answer.details["remembered"]) == ("kiri", False)
    assert "this session only" in answer.text
    assert "kiri" not in (file.read_text() if file.exists() else "")
    desk.open("s2")
    assert desk.owner.persona is None


@pytest.mark.parametrize("text", ["{", "[]", '{"a": NaN}', "", "{}{}"])
def test_a_malformed_file_is_named_and_never_overwritten(start: Start, file: Path, text: str) -> None:
    file.write_text(text)
    desk = start()
    desk.open(persona="ada")
    assert any("settings.json" in line for line in desk.notices.lines)
    answer = desk.say("/persona use kiri")
    assert (answer.ok, answer.changed) == (False, "no")
    assert isinstance(answer.error, CorruptError)
    assert str(file) in answer.text
    assert file.read_text() == text
    assert desk.owner.persona == "ada"
    desk.open()
    assert desk.runtime.tools("model") == []
    assert "settings.json" in desk.say("/persona").text


def test_settings_that_cannot_be_looked_at_are_not_taken_for_none(
    start: Start, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text('{"persona": {"lastPersona": "kiri"}}')
    desk = start()
    real = os.lstat

    def deny(path: str | Path, **more: int) -> os.stat_result:
        if str(path) == str(file):
            raise PermissionError(errno.EACCES, "denied")
        return real(path, **more)

    monkeypatch.setattr(os, "lstat", deny)
    desk.open()
    monkeypatch.undo()
    assert desk.owner.persona == "kiri"


def test_a_section_that_is_no_object_is_not_overwritten_by_a_choice(start: Start, file: Path) -> None:
    file.write_text('{"persona": []}')
    desk = start()
    desk.open(persona="ada")
    answer = desk.say("/persona use kiri")
    assert (desk.owner.persona, answer.details["remembered"]) == ("kiri", False)
    assert file.read_text() == '{"persona": []}'
    desk.open()
    assert "persona must be an object" in desk.say("/persona").text


@pytest.mark.parametrize(
    ("section", "key", "bad", "careful"),
    [
        ("mind", "enabled", "false", False),
        ("mind", "capture", "never", "off"),
        ("mind", "nudge", 0, False),
        ("persona", "persist", "off", False),
    ],
)
def test_a_malformed_value_is_named_and_counts_as_the_most_careful(
    start: Start, file: Path, section: str, key: str, bad: object, careful: object
) -> None:
    file.write_text(json.dumps({section: {key: bad}, "models": {"default": "openai:m"}}))
    desk = start()
    desk.open()
    name = f"{section}.{key}"
    assert values(desk)[name] == careful
    assert sources(desk)[name].endswith("settings.json (malformed)")
    assert any(name in line for line in desk.notices.lines)
    assert name in desk.say("/persona doctor").text
    assert values(desk)["models.default.model"] == "openai:m"


@pytest.mark.parametrize("value", ["a\0b", "\ud800", "x" * 900_000, "\x9b31m", [], {}, 1e300, -(10**400)])
@pytest.mark.parametrize(
    "key", ["persona", "persona.lastPersona", "mind", "mind.enabled", "sessions", "models", "models.default", "x"]
)
def test_no_value_of_the_settings_ends_a_session(start: Start, file: Path, key: str, value: object) -> None:
    outer, _, inner = key.partition(".")
    file.write_text(json.dumps({outer: {inner: value} if inner else value}))
    desk = start()
    desk.open()
    for line in ("/persona", "/persona doctor", "/mind"):
        desk.say(line).text.encode()
    assert not desk.runtime.problems


def test_a_mind_section_that_is_no_object_turns_the_mind_off(start: Start, file: Path) -> None:
    file.write_text('{"mind": "off"}')
    desk = start()
    desk.open()
    assert (values(desk)["mind.enabled"], values(desk)["mind.capture"]) == (False, "off")


def test_what_the_environment_overrules_of_the_mind_is_the_minds_to_report(start: Start, file: Path) -> None:
    file.write_text('{"mind": {"capture": "off"}}')
    desk = start(PI_PERSONA_MIND_CAPTURE="auto", PI_PERSONA_MIND_NUDGE="off")
    desk.open()
    found = desk.runtime.settings()
    assert (found["mind.capture"].value, found["mind.capture"].source) == ("off", str(file))
    assert (found["mind.nudge"].value, found["mind.nudge"].source) == (True, "default")


def test_an_override_of_the_environment_is_named_as_the_source(start: Start, file: Path) -> None:
    file.write_text('{"mind": {"capture": "auto", "nudge": true, "enabled": true}}')
    desk = start(PI_PERSONA_PERSIST="off")
    desk.open()
    found = desk.runtime.settings()
    assert (found["persona.persist"].value, found["persona.persist"].source) == (False, "PI_PERSONA_PERSIST")
    assert (found["mind.enabled"].value, found["mind.enabled"].source) == (True, str(file))


def test_without_a_file_every_setting_has_its_default(start: Start) -> None:
    desk = start()
    desk.open()
    assert values(desk) == {
        "persona.persist": True,
        "mind.enabled": True,
        "mind.capture": "auto",
        "mind.nudge": True,
        "sessions.recall": True,
        "recall.vectors": None,
    }
    assert set(sources(desk).values()) == {"default"}


def test_a_role_without_a_model_has_the_default_s_and_an_unknown_one_is_named(start: Start, file: Path) -> None:
    default = {"model": "openai:big", "baseUrl": "http://127.0.0.1:8/v1", "apiKeyEnv": "MY_KEY"}
    file.write_text(json.dumps({"models": {"default": default, "flash": "openai:small", "fast": "openai:x"}}))
    desk = start()
    desk.open()
    models = {key: value for key, value in values(desk).items() if key.startswith("models.")}
    assert models == {
        "models.default.model": "openai:big",
        "models.default.baseUrl": "http://127.0.0.1:8/v1",
        "models.default.apiKeyEnv": "MY_KEY",
        "models.routing.model": "openai:big",
        "models.routing.baseUrl": "http://127.0.0.1:8/v1",
        "models.routing.apiKeyEnv": "MY_KEY",
        "models.flash.model": "openai:small",
    }
    assert "models.default" in sources(desk)["models.routing.model"]
    assert "known are default, routing, flash" in desk.say("/persona doctor").text
    assert json.loads(file.read_text())["models"]["fast"] == "openai:x"


def test_an_unknown_role_resolves_to_the_default() -> None:
    resolved = resolve({"default": "big", "flash": "small"}, "turbo")
    assert (resolved.role, resolved.model, resolved.known) == ("default", "big", False)
    assert resolve({"default": "big"}, "flash").known
    assert resolve({}, "flash").model is None


@pytest.mark.parametrize(
    "model",
    [
        {"model": "openai:m", "apiKeyEnv": "sk-proj-abcdefghijklmnop"},
        {"model": "openai:m", "baseUrl": "https://me:hunter2@host/v1"},
        {"model": "openai:m", "baseUrl": "file:///etc/passwd"},
        {"model": "two words"},
        {"baseUrl": "http://x"},
        5,
    ],
)
def test_a_malformed_model_serves_nothing_and_its_value_is_told_to_nobody(
    start: Start, file: Path, model: object
) -> None:
    file.write_text(json.dumps({"models": {"default": model}}))
    desk = start()
    desk.open()
    assert not any(key.startswith("models.") for key in values(desk))
    told = "\n".join(
        [*desk.notices.lines, desk.say("/persona doctor").text, *map(str, desk.runtime.settings().values())]
    )
    assert "models.default" in told
    assert "hunter2" not in told
    assert "sk-proj" not in told


@pytest.mark.parametrize("failing", ["rename", "fsync"])
def test_a_choice_that_cannot_be_written_changes_neither_what_is_shown_nor_whose_memory_it_is(
    start: Start, file: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    desk = start()
    desk.open()
    desk.say("/persona use ada")
    before = file.read_bytes()
    news = len(desk.news)

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, failing, fail)
    answer = desk.say("/persona use kiri")
    monkeypatch.undo()
    assert (answer.ok, answer.changed) == (False, "no")
    assert desk.owner.persona == "ada"
    assert "ada speaks here" in desk.say("/persona").text
    assert file.read_bytes() == before
    assert len(desk.news) == news


def test_a_file_that_another_program_changes_meanwhile_keeps_its_change(
    start: Start, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text('{"other": 1}')
    desk = start()
    desk.open()
    real = os.fsync

    def meddle(descriptor: int) -> None:
        file.write_text('{"other": 2}')
        real(descriptor)

    monkeypatch.setattr(os, "fsync", meddle)
    answer = desk.say("/persona use kiri")
    monkeypatch.undo()
    assert (answer.ok, answer.details["reason"]) == (False, "conflict")
    assert json.loads(file.read_text()) == {"other": 2}
    assert desk.owner.persona is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"langauge": "it"}', "language may be meant"),
        ('{"mnd": {"enabled": false}}', "mind may be meant"),
        ('{"mind": {"capure": "off"}}', "mind.capture may be meant"),
        ('{"persona": {"last_persona": "kiri"}}', "persona.lastPersona may be meant"),
        ('{"recall": {"vector": "x"}}', "recall.vectors may be meant"),
        ('{"language": "qq"}', "no messages in qq"),
    ],
)
def test_what_does_nothing_although_it_looks_like_a_setting_is_told_of(
    start: Start, file: Path, text: str, told: str
) -> None:
    file.write_text(text)
    desk = start()
    desk.open()
    answer = desk.say("/persona doctor")
    assert [told in problem["text"] for problem in answer.details["problems"]] == [True]
    assert answer.card.level == "warning"
    assert not any(key in answer.text for key in ("langauge", "mnd", "capure", "last_persona"))


@pytest.mark.parametrize(
    "text", ['{"zeta": 1, "sessionStore": {}}', '{"mind": {"x": 1, "later": 2}}', '{"language": "en_GB"}', "{}"]
)
def test_keys_of_somebody_else_and_every_english_are_no_fault(start: Start, file: Path, text: str) -> None:
    file.write_text(text)
    desk = start()
    desk.open()
    assert desk.say("/persona doctor").details["problems"] == []
