"""A settings file changes as durably as a document, and keeps what nobody here knows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from persona_hooks.errors import CapacityError, ConflictError, CorruptError, InvalidError, RefusedError
from persona_store.jsonfile import MAX_BYTES, JsonFile

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def settings(agent_dir: Path) -> JsonFile:
    return JsonFile(agent_dir / "settings.json", agent_dir / "persona-mind")


def lay(settings: JsonFile, text: str) -> None:
    settings.path.parent.mkdir(parents=True)
    settings.path.write_text(text)


def test_reading_what_is_not_there_creates_nothing(settings: JsonFile) -> None:
    assert settings.read().values == {}
    assert not settings.path.parent.exists()


def test_unknown_keys_stay_in_their_order_and_the_layout_is_kept(settings: JsonFile) -> None:
    lay(settings, '{\n\t"theme": "dark",\n\t"big": 123456789012345678901234567890,\n\t"own": {"a": 1.0}\n}')

    settings.update(lambda values: {**values, "own": {"a": 2}})

    assert settings.path.read_text() == (
        '{\n\t"theme": "dark",\n\t"big": 123456789012345678901234567890,\n\t"own": {\n\t\t"a": 2\n\t}\n}\n'
    )
    assert settings.path.with_name("settings.json.bak").exists()


def test_a_change_of_nothing_writes_nothing(settings: JsonFile) -> None:
    lay(settings, '{"a":1}')

    assert settings.update(lambda values: values).data == b'{"a":1}'
    assert settings.update(lambda _: None).data == b'{"a":1}'
    assert settings.path.read_text() == '{"a":1}'


def test_a_value_changed_in_place_is_still_seen_as_a_change(settings: JsonFile) -> None:
    lay(settings, '{"a": {"b": 1}}')

    def mutate(values: dict[str, object]) -> dict[str, object]:
        values["a"] = {"b": 2}
        return values

    settings.update(mutate)  # type: ignore[arg-type]

    assert json.loads(settings.path.read_text()) == {"a": {"b": 2}}


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": NaN}', "[" * 100_000, "\ufeff{}"])
def test_what_is_no_object_is_refused_and_left(settings: JsonFile, text: str) -> None:
    lay(settings, text)

    with pytest.raises(CorruptError):
        settings.update(lambda values: {**values, "a": 1})
    assert settings.path.read_text() == text


def test_a_link_is_refused(settings: JsonFile, tmp_path: Path) -> None:
    victim = tmp_path / "victim.json"
    victim.write_text("{}")
    settings.path.parent.mkdir(parents=True)
    settings.path.symlink_to(victim)

    with pytest.raises(RefusedError):
        settings.update(lambda values: {**values, "a": 1})
    assert victim.read_text() == "{}"


def test_another_programs_change_meanwhile_is_not_lost(settings: JsonFile) -> None:
    lay(settings, '{"a": 1}')

    def mutate(values: dict[str, object]) -> dict[str, object]:
        settings.path.write_text('{"a": 2}')
        return {**values, "b": 1}

    with pytest.raises(ConflictError):
        settings.update(mutate)  # type: ignore[arg-type]
    assert settings.path.read_text() == '{"a": 2}'


def test_values_json_cannot_carry_are_refused(settings: JsonFile) -> None:
    with pytest.raises(InvalidError):
        settings.update(lambda _: {"a": float("nan")})
    with pytest.raises(CapacityError):
        settings.update(lambda _: {"a": "x" * MAX_BYTES})
    assert not settings.path.exists()
