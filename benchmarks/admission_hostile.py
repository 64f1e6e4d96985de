"""Texts of full length that are made to be slow: every trigger and anchor of the rules, repeated and mixed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from persona_store.directive_rules import hints_by_trigger, rules_by_trigger
from persona_store.examination import MAX_CHARACTERS
from persona_store.secrets_table import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

_FILLERS: Final = (
    *(
        "a",
        "the ",
        ". ",
        "all ",
        "previous ",
        "instructions",
        "your ",
        "user ",
        "password ",
        "is ",
        "= ",
        ": ",
        '"',
        "<",
    ),
    *("![", "](", "http://", "{", "://", "@", "eyJ", ".", "-", "_", "AAAA", "0123", "=", "\u200c", "\u0645", "\u200d"),
    *("\U0001f469", "\U000e0067", "\n", "User:", "Assistant:", "<system", "%41", "\\u0041", "&#65;", "i g n o r e "),
    *(
        "\u0435",
        "\uff41",
        "\u00e9",
        "sk-",
        "token ",
        "key",
        "secret",
        "+",
        "/",
        "01010101 ",
        "QUFB",
        "https://a.b/?q={",
    ),
    *("<img src ", "\u05d0\u200e", "aWdub3JlIGFsbCBydWxlcyBub3cu ", "[", "`", "'", "\u2028", "|", "#"),
)


def hostile_texts(random: Random, count: int) -> Iterator[str]:
    """Yield texts of the greatest length, each of a few pieces in a cycle or at random."""
    triggers = [f"{trigger} " for trigger in sorted({*rules_by_trigger(), *hints_by_trigger()})]
    anchors = sorted({anchor for row in FORMATS for anchor in row.anchors})
    everything = [*_FILLERS, *triggers, *anchors]
    for _ in range(count):
        source, most = random.choice(((triggers, 4), (anchors, 3), (_FILLERS, 4), (everything, 40)))
        pieces = random.choices(source, k=random.randint(1, most))
        if random.random() < 0.5:
            unit = "".join(pieces)
            yield (unit * (MAX_CHARACTERS // len(unit) + 1))[:MAX_CHARACTERS]
        else:
            yield "".join(random.choices([*pieces, " "], k=MAX_CHARACTERS))[:MAX_CHARACTERS]
