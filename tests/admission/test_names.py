"""Rows I3 and I5: names of personas, users and scopes."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persona_hooks.errors import RefusedError
from persona_store.confusables import MAX_NAME, check_name, skeleton

GOOD = (
    "Ann",
    "code reviewer",
    "Müller",
    "Łukasz",
    "Иван Петров",
    "Ελένη",
    "李小龍",
    "田中さんのAI",
    "김철수",
    "محمد",
    "console",
    "v2.1-beta_3",
    "u:42",
    "Anna & Иван",
    "O’Brien",
)


@pytest.mark.parametrize("name", GOOD)
def test_names_of_one_script_a_word_are_allowed(name: str) -> None:
    check_name(name)


BAD = {
    "Cyrillic letter in a Latin word": ("W\u0430rren", "name.mixed-scripts"),
    "Greek letter in a Latin word": ("\u0391nna", "name.mixed-scripts"),
    "Latin letter in a Cyrillic word": ("Ив\u0061н", "name.mixed-scripts"),
    "Armenian letter": ("\u0578ora", "name.mixed-scripts"),
    "mathematical letters": ("\U0001d400nna", "name.typeface"),
    "full-width letters": ("\uff21nna", "name.typeface"),
    "zero-width space": ("An\u200bna", "name.hidden"),
    "soft hyphen": ("An\u00adna", "name.hidden"),
    "direction override": ("\u202eanna", "name.hidden"),
    "line break": ("Anna\n", "name.hidden"),
    "tab": ("An\tna", "name.hidden"),
    "no-break space": ("An\u00a0na", "name.hidden"),
    "escape": ("\x1b[31mAnna", "name.hidden"),
    "empty": ("", "name.empty"),
    "blank": ("  ", "name.empty"),
    "too long": ("x" * (MAX_NAME + 1), "name.length"),
    "default": ("default", "name.reserved"),
    "shared in capitals": ("Shared", "name.reserved"),
    "shared segment": ("_shared", "name.reserved"),
}


@pytest.mark.parametrize(("name", "rule"), BAD.values(), ids=BAD.keys())
def test_deceiving_names_are_refused_by_name_of_the_rule(name: str, rule: str) -> None:
    with pytest.raises(RefusedError) as refused:
        check_name(name)
    assert refused.value.details["rule"] == rule
    assert refused.value.reason == "unsafe_name"


def test_reserved_words_may_name_a_user() -> None:
    check_name("default", kind="user")


@pytest.mark.parametrize(
    ("name", "existing"),
    [
        ("\u0441\u043e\u0441\u043e", "coco"),
        ("ANNA", "anna"),
        ("Cafe\u0301", "caf\u00e9"),
        ("Müller", "Muller"),
        ("l0gan", "logan"),
        ("bemd", "bernd"),
    ],
)
def test_a_name_that_looks_like_an_existing_one_is_refused(name: str, existing: str) -> None:
    with pytest.raises(RefusedError) as refused:
        check_name(name, existing=["other", existing])
    assert refused.value.details["rule"] == "name.look-alike"
    assert refused.value.details["resembles"] == existing


def test_a_name_may_be_checked_against_a_list_that_holds_it() -> None:
    check_name("Anna", existing=["Anna", "Bernd"])


@given(st.text(min_size=1, max_size=20))
def test_composition_and_case_do_not_change_a_skeleton(name: str) -> None:
    assert skeleton(unicodedata.normalize("NFD", name)) == skeleton(unicodedata.normalize("NFC", name))
    assert skeleton(name.casefold()) == skeleton(name)


@given(st.text(max_size=40))
def test_any_string_is_judged_and_a_refusal_does_not_print_what_it_hides(name: str) -> None:
    try:
        check_name(name)
    except RefusedError as refused:
        assert str(refused).isprintable()  # noqa: PT017 - either outcome is right, this holds for one
