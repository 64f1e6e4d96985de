"""Slash commands and the command line: what is typed, and what of it reaches a verb."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persona_hooks.commands import complete, parse_line, parse_words, usage
from persona_hooks.errors import InvalidError, NotFoundError
from persona_hooks.verbs import validate
from tests.hooks.sample import Nothing, registry, verb

REGISTRY = registry()


def parsed(line: str) -> tuple[str, dict[str, Any]]:
    command = parse_line(REGISTRY, line)
    return command.verb.name, command.arguments


@pytest.mark.parametrize(
    ("line", "name", "arguments"),
    [
        ("/note", "note.status", {}),
        ("note", "note.status", {}),
        ("/note recall", "note.recall", {}),
        ("/note recall staging port", "note.recall", {"query": "staging port"}),
        ("/note recall staging port --limit 3", "note.recall", {"query": "staging port", "limit": "3"}),
        ("/note recall --limit 3 staging port", "note.recall", {"query": "staging port", "limit": "3"}),
        ("/note recall staging --limit=3 port", "note.recall", {"query": "staging port", "limit": "3"}),
        ("/note recall --exact staging", "note.recall", {"query": "staging", "exact": True}),
        ("/note recall staging --exact=false", "note.recall", {"query": "staging", "exact": "false"}),
        ("/note recall --boost x", "note.recall", {"query": "x", "boost": True}),
        ("/note recall --tags a,b --tags c x", "note.recall", {"query": "x", "tags": ["a", "b", "c"]}),
        ('/note recall --tags "a b, c" x', "note.recall", {"query": "x", "tags": ["a b", "c"]}),
        ('/note recall --tags="a b,c" x', "note.recall", {"query": "x", "tags": ["a b", "c"]}),
        ("/note recall --query x", "note.recall", {"query": "x"}),
        ("/note recall -- --limit 3", "note.recall", {"query": "--limit 3"}),
        ('/note recall "--limit 3"', "note.recall", {"query": "--limit 3"}),
        ("/note recall -x - –", "note.recall", {"query": "-x - –"}),
        ("/note remember --due-in-seconds 9 x", "note.remember", {"text": "x", "dueInSeconds": "9"}),
        ("/note forget a b,c", "note.forget", {"ids": ["a", "b", "c"]}),
        ("/note move chair attic", "note.move", {"what": "chair", "where": "attic"}),
        (
            '/note move "big chair" attic no room',
            "note.move",
            {"what": "big chair", "where": "attic", "why": "no room"},
        ),
        ("  /note \t recall \u3000 中文  ", "note.recall", {"query": "中文"}),
    ],
)
def test_a_line_becomes_a_verb_and_its_arguments(line: str, name: str, arguments: dict[str, Any]) -> None:
    assert parsed(line) == (name, arguments)


@pytest.mark.parametrize(
    "text",
    [
        "It's Ann's birthday, isn't it?",
        'the 24" monitor',
        'He said "no" and left',
        '"no" is what he said',
        "two  spaces\tand a tab",
        "line one\n  line two",
        "a = b == c",
        "back\\slash $HOME `x` # no comment",
        "naïve 👨‍👩‍👧 שלום",
        "'single quotes'",
        'unclosed "quotation',
    ],
)
def test_a_sentence_is_kept_as_it_was_written(text: str) -> None:
    assert parsed(f"/note remember {text}") == ("note.remember", {"text": text})


def test_quotes_around_the_whole_text_are_taken_off() -> None:
    assert parsed('/note remember "--force is  never used"')[1] == {"text": "--force is  never used"}


def test_an_option_inside_a_sentence_leaves_it_in_one_piece() -> None:
    assert parsed("/note remember the  port --limit 2 is 5433")[1] == {"text": "the  port is 5433", "limit": "2"}


@pytest.mark.parametrize("line", ["/nothing", "/", "", "/notes", "/note recal port", "/lamp", "/note off now"])
def test_an_unknown_command_is_answered_with_the_known_ones(line: str) -> None:
    with pytest.raises(NotFoundError) as refusal:
        parse_line(REGISTRY, line)
    assert refusal.value.reason == "unknown_command"
    assert "Known here: /" in str(refusal.value)
    assert "recal port" not in str(refusal.value)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("/notes", "/note?"),
        ("/note recal port", "/note recall?"),
        ("/recall port", "/note recall?"),
        ("/note off now", "/note off?"),
        ("/note xyz", None),
        ("/nothing", None),
    ],
)
def test_what_was_probably_meant_is_offered(line: str, meant: str | None) -> None:
    with pytest.raises(NotFoundError) as refusal:
        parse_line(REGISTRY, line)
    offered = re.search(r"Did you mean ([^?]+\?)", str(refusal.value))
    assert (offered and offered[1]) == meant


def test_commands_of_one_word_are_listed_together() -> None:
    with pytest.raises(NotFoundError, match=r"Known here: /note followed by (\w+, )+\w+\.$"):
        parse_line(REGISTRY, "/note xyz")


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("/note recall --colour red", "option"),
        ("/note recall x --secret=hunter2", "option"),
        ("/note recall x --limit", "limit"),
        ("/note off --now", "option"),
    ],
)
def test_a_wrong_option_is_refused_with_the_right_ones(line: str, field: str) -> None:
    with pytest.raises(InvalidError) as refusal:
        parse_line(REGISTRY, line)
    assert refusal.value.details["field"] == field
    assert "hunter2" not in str(refusal.value)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("/note recall --colour red", "--colour"),
        ("/note recall --in-red=hunter2", "--in-red"),
        ("/note off --now", "--now"),
        ("/note recall --hunter2", None),
        ("/note recall --Hunter", None),
        ("/note recall --a-name-that-is-a-sentence", None),
    ],
)
def test_a_wrong_option_is_named_where_it_is_a_name_and_no_text(line: str, named: str | None) -> None:
    with pytest.raises(InvalidError) as refusal:
        parse_line(REGISTRY, line)
    assert refusal.value.reason == "unknown_option"
    assert f": {f'there is no option {named}' if named else 'no such option'}. It knows: " in str(refusal.value)
    assert "unter" not in str(refusal.value)


def test_a_command_that_lacks_a_word_is_answered_with_those_that_may_follow() -> None:
    verbs = registry()
    verbs.add(
        verb("mind.save", Nothing, command="note page save"), verb("mind.list", Nothing, command="note page list")
    )
    for line in ("/note page", "/note page xyz"):
        with pytest.raises(NotFoundError, match=r"Known here: /note page followed by list, save\.$"):
            parse_line(verbs, line)


def test_too_many_words_are_refused_with_the_form() -> None:
    verbs = registry()
    with pytest.raises(InvalidError, match=r"Form: /lamp list"):
        parse_words(verbs, ["lamp", "list", "--", "x"])


def test_the_words_of_a_shell_are_taken_as_they_are() -> None:
    command = parse_words(REGISTRY, ["note", "remember", 'a "b"', "c  d", "--limit", "2"])
    assert command.arguments == {"text": 'a "b" c  d', "limit": "2"}


def test_what_is_typed_is_read_as_numbers_and_truths() -> None:
    command = parse_line(REGISTRY, "/note recall x --limit 3 --exact=false --tags a")
    params = validate(command.verb, command.arguments, lax=True)
    assert params.model_dump(include={"limit", "exact", "tags"}) == {"limit": 3, "exact": False, "tags": ["a"]}


@pytest.mark.parametrize(
    ("name", "form"),
    [
        (
            "note.recall",
            "/note recall [QUERY…] [--scope long|short|both] [--limit LIMIT] [--tags TAGS[,…]] [--exact] [--boost]",
        ),
        ("note.forget", "/note forget IDS…"),
        ("note.move", "/note move WHAT attic|cellar [WHY…] [--by hand|van[,…]]"),
        ("note.off", "/note off"),
    ],
)
def test_the_form_of_a_command_fits_on_a_line(name: str, form: str) -> None:
    assert usage(REGISTRY.get(name)) == form


def test_the_form_names_every_choice_and_option() -> None:
    form = usage(REGISTRY.get("note.remember"))
    assert "[--colour red|green]" in form
    assert "[--due-in-seconds DUE_IN_SECONDS]" in form


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("/no", ["/note", "/note forget", "/note move", "/note off", "/note recall", "/note remember"]),
        ("/note re", ["/note recall", "/note remember"]),
        ("/note recall --l", ["--limit"]),
        ("/note recall --scope ", ["long", "short", "both"]),
        ("/note recall --scope s", ["short"]),
        ("/note recall --limit ", []),
        ("/note move chair a", ["attic"]),
        ("/note move chair --by h", ["hand"]),
        ("/note remember --colour g", ["green"]),
        ("/note recall --exact --e", []),
        ("/nothing ", []),
        ("/note off ", []),
        ("/", ["/lamp list", "/note", "/note forget", "/note move", "/note off", "/note recall", "/note remember"]),
    ],
)
def test_what_may_follow_is_offered(line: str, offered: list[str]) -> None:
    assert complete(REGISTRY, line) == offered


@given(st.text())
def test_no_line_does_more_than_be_refused(text: str) -> None:
    for line in (text, f"/note {text}", f"/note recall {text}", f"/note move {text}"):
        try:
            parse_line(REGISTRY, line)
        except (NotFoundError, InvalidError) as error:
            assert error.changed == "no"  # noqa: PT017 - any line may be fine as well
        complete(REGISTRY, line)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8), min_size=1, max_size=5))
def test_a_text_in_one_shell_word_arrives_unchanged(words: list[str]) -> None:
    text = " ".join(words)
    assert parse_words(REGISTRY, ["note", "remember", "--", text]).arguments == {"text": text}
