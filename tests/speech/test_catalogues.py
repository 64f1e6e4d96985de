"""The catalogues against the source: every message is one, every one is translated, and says the same things."""

from __future__ import annotations

import ast
import re
import string
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from babel.messages.pofile import read_po

from tests.support.sweeping import verbs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from babel.messages.catalog import Catalog

ROOT = Path(__file__).parents[2]
COLUMNS = 80
SINGLE, MANY = {"say", "phrase", "marked"}, {"say_n", "phrase_n"}
PATHS = sorted(path for path in ROOT.glob("**/locale/*/LC_MESSAGES/*.po") if ".venv" not in path.parts)
LANGUAGES = sorted({path.parents[1].name for path in PATHS})

sys.path.insert(0, str(ROOT / "docs"))
import catalogues  # noqa: E402 - a script beside the pages, no package

SOURCES = [
    path.relative_to(ROOT)
    for package in catalogues.PACKAGES
    for path in sorted(catalogues.folder_of(ROOT, package).rglob("*.py"))
]


def catalogue(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=path.parents[1].name)


def messages(path: Path) -> Iterator[tuple[list[str], list[str]]]:
    """Yield each message's forms, and those of its translation."""
    for message in catalogue(path):
        if message.id:
            yield (
                [message.id] if isinstance(message.id, str) else list(message.id),
                [message.string] if isinstance(message.string, str) else list(message.string),
            )


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def calls(path: Path) -> Iterator[tuple[ast.Call, str]]:
    for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SINGLE | MANY:
            yield node, node.func.id


def test_italian_is_spoken_by_every_package() -> None:
    assert {path.stem for path in PATHS if path.parents[1].name == "it"} == set(catalogues.PACKAGES)


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_a_message_gets_the_values_that_it_names_and_no_other(path: Path) -> None:
    wrong = []
    for call, name in calls(path):
        texts = [node.value for node in call.args[: 1 + (name in MANY)] if isinstance(node, ast.Constant)]
        given = {keyword.arg for keyword in call.keywords}
        if not texts or name == "marked" or None in given:
            continue  # what stands in a table is checked against its translations
        asked = set().union(*(fields(str(text)) for text in texts)) - ({"number"} if name in MANY else set())
        if asked != given:
            wrong.append(f"line {call.lineno}: {sorted(asked ^ given, key=str)}")
    assert wrong == []


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_a_message_is_no_text_that_is_put_together(path: Path) -> None:
    made = [
        f"line {call.lineno}"
        for call, name in calls(path)
        for node in call.args[: 1 + (name in MANY)]
        if isinstance(node, ast.JoinedStr | ast.BinOp)
    ]
    assert made == []


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parents[1].name} {path.stem}")
def test_every_message_is_translated_with_the_same_values_and_the_right_number_of_forms(path: Path) -> None:
    known = catalogue(path)
    assert not known.obsolete
    wrong = []
    for message in known:
        if not message.id:
            continue
        ids = message.id if isinstance(message.id, tuple) else (message.id,)
        texts = message.string if isinstance(message.string, tuple) else (message.string,)
        forms = known.num_plurals if isinstance(message.id, tuple) else 1
        if message.fuzzy or len(texts) != forms or not all(texts):
            wrong.append(ids[0])
            continue
        # A form for one may leave the number out.
        wanted, optional = fields(ids[-1]) | fields(ids[0]), {"number"} if len(ids) > 1 else set()
        wrong += [text for text in texts if not wanted - optional <= fields(text) <= wanted]
    assert wrong == []


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parents[1].name} {path.stem}")
def test_what_fits_a_line_in_english_fits_it_in_every_language(path: Path) -> None:
    forms = list(messages(path))
    assert [text for ids, texts in forms for text in texts if max(map(len, ids)) <= COLUMNS < len(text)] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_same_message_is_translated_alike_wherever_it_is_said(language: str) -> None:
    said: dict[str, set[str]] = {}
    for path in PATHS:
        for ids, texts in messages(path) if path.parents[1].name == language else ():
            said.setdefault(ids[0], set()).add(texts[-1])
    assert {key: texts for key, texts in said.items() if len(texts) > 1} == {}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parents[1].name} {path.stem}")
def test_a_translation_keeps_commands_and_settings_as_they_are_typed(path: Path) -> None:
    wrong = []
    for ids, texts in messages(path):
        typed = re.findall(r"`[^`]*`|--[a-z-]+|\b[A-Z]+_[A-Z_]+\b|(?<![\w.])/[a-z]+", ids[0])
        wrong += [text for text in texts if not all(word.strip("`") in text for word in typed)]
    assert wrong == []


def test_the_catalogues_hold_what_help_tells_of_every_command() -> None:
    texts = {text for verb in verbs() if "person" in verb.shown_to for text in catalogues.texts_of(verb)}
    held = {message.id for path in PATHS for message in catalogue(path)}
    assert {catalogues.literal(text) for text in texts} - held == set()


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parents[1].name} {path.stem}")
def test_a_name_that_begins_a_sentence_begins_its_translation(path: Path) -> None:
    """It has a capital, which in the middle of a sentence is a fault."""
    names = re.compile(r"\{(?:what|who|store|said)\}")
    pairs = [(found[0], text) for found, told in messages(path) for text in told if names.match(found[0]) and text]
    assert [text for begun, text in pairs if not text.startswith(begun.partition("}")[0])] == []
