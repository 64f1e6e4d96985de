from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persona_hooks.errors import InvalidError
from persona_mind.kernel.identity import DEFAULT_USER, content_id, handles, key, normal_text, person

if TYPE_CHECKING:
    from random import Random

kinds = st.sampled_from(["note", "preference", "invariant"])
texts = st.text(min_size=1, max_size=60)
tag_lists = st.lists(st.text(min_size=1, max_size=12), max_size=6)


def old_form(kind: str, text: str, tags: list[str]) -> str:
    return hashlib.sha256(f"{kind}\0{text}\0{','.join(sorted(tags))}".encode()).hexdigest()[:12]


def test_the_id_is_the_first_twelve_digits_of_sha_256_over_kind_text_and_tags() -> None:
    assert content_id(key("note", "Use  Tabs", ["B", "a"])) == old_form("note", "use tabs", ["a", "b"])


@given(kinds, texts, tag_lists)
def test_an_id_is_twelve_lower_case_hex_digits(kind: str, text: str, tags: list[str]) -> None:
    assert re.fullmatch("[0-9a-f]{12}", content_id(key(kind, text, tags)))


@given(kinds, texts, tag_lists, st.randoms(use_true_random=False))
def test_the_order_and_repetition_of_tags_do_not_matter(kind: str, text: str, tags: list[str], random: Random) -> None:
    mixed = [*tags, *tags]
    random.shuffle(mixed)
    assert key(kind, text, mixed) == key(kind, text, tags)


@given(st.lists(st.from_regex(r"[a-z]{1,6}", fullmatch=True), min_size=1), st.sampled_from([" ", "\n\t ", "\u00a0"]))
def test_case_and_spacing_do_not_matter(words: list[str], gap: str) -> None:
    plain = " ".join(words)
    assert key("note", f" {gap.join(words).upper()}\n", []) == key("note", plain, [])


@given(texts)
def test_composed_and_decomposed_forms_are_one_text(text: str) -> None:
    assert normal_text(unicodedata.normalize("NFD", text)) == normal_text(unicodedata.normalize("NFC", text))


@given(texts)
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normal_text(text)
    assert normal_text(once) == normal_text(normal_text(once))


def test_white_space_around_a_tag_does_not_matter_and_inside_it_does() -> None:
    assert key("note", "x", ["\u00a0 A \n", " "]).tags == ("a",)
    assert key("note", "x", ["a  b"]) != key("note", "x", ["a b"])


def test_a_tag_with_a_comma_is_not_two_tags() -> None:
    assert content_id(key("note", "x", ["a,b"])) != content_id(key("note", "x", ["a", "b"]))


def test_a_fact_with_a_comma_in_a_tag_answers_to_its_current_and_its_older_id_and_no_other() -> None:
    of = key("note", "x", ["a,b"])
    assert handles(of, content_id(of)) == {content_id(of), old_form("note", "x", ["a,b"])}


def test_tags_are_sorted_by_utf_16_as_in_existing_profiles() -> None:
    # U+FF5E sorts after U+1F600 in UTF-16, whose first unit is a surrogate, and before it by code point.
    assert key("note", "x", ["\uff5e", "\U0001f600"]).tags == ("\U0001f600", "\uff5e")


@pytest.mark.parametrize("text", ["u:1", "u:42", "u:9999999999999999999"])
def test_a_person_is_named_by_a_number(text: str) -> None:
    assert person(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "u:0",
        "u:01",
        "u:",
        "42",
        "u:42\n",
        " u:42",
        "U:42",
        "u:٤٢",
        "u:12345678901234567890",
        "u:-1",
        "u:4 2",
        "u:\uff14\uff12",
        "u:4_2",
        "u: 42",
    ],
)
def test_nothing_else_names_a_person(text: str) -> None:
    with pytest.raises(InvalidError):
        person(text)


def test_the_default_user_is_a_person() -> None:
    assert person(DEFAULT_USER) == DEFAULT_USER
