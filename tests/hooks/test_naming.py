"""The names of fields on the wire."""

from __future__ import annotations

import string

from hypothesis import given
from hypothesis import strategies as st
from pydantic import alias_generators

from persona_hooks.naming import to_camel

WORD = st.text(string.ascii_lowercase, min_size=1, max_size=8)


@given(st.lists(WORD, min_size=1, max_size=5))
def test_words_are_joined_as_pydantic_joins_them(words: list[str]) -> None:
    name = "_".join(words)
    assert to_camel(name) == alias_generators.to_camel(name)


def test_what_is_in_camel_case_stays() -> None:
    assert to_camel("sessionId") == "sessionId"
