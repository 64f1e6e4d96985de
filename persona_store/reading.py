"""A text as the rules read it: its folded words and its decoded layers, made once for all of them."""

from __future__ import annotations

from typing import NamedTuple

from persona_store.folding import FOLDED, Words, words_of
from persona_store.layers import Layer, layers


class Reading(NamedTuple):
    """What the rules share about one text."""

    text: str
    """The text as it was given."""
    folded: str
    words: Words
    layers: tuple[Layer, ...]
    """Its decoded passages."""


def read(text: str) -> Reading:
    """Return a text with its folded words and its decoded layers."""
    folded = FOLDED.of(text)
    words = words_of(folded)
    spelt = sum(len(word) == 1 for word in words.words)
    return Reading(text, folded, words, tuple(layers(text, folded, spelt)))
