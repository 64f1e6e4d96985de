"""A catalogue that brackets what it words, and what is left outside of the brackets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.support.sweeping import SESSION, opened

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from persona_hooks.cards import Card
    from persona_hooks.verbs import Answer, AnyVerb
    from persona_host.runtime import Runtime

LANGUAGE = "xx"
OPEN, SHUT = "⟦", "⟧"
WORD = re.compile(r"[A-Za-zÀ-ÿ]{2,}")
DATA = re.compile(
    r"\bq?[0-9a-f]{12}\b|\b[0-9a-f]{8}\b|\d{8}T\d{6}-\w+|\d{4}-\d\d-\d\dT[\d:.]+Z|(?<![\w])/[\w./…*-]+|`[^`]*`|\b[a-z_]+\.[a-z_]+\b|\bdaily-[\w-]+|"
    r"^\s*\| .*$|^\s*[a-zA-Z]+:$|shared-\w+|[\w-]+-[0-9a-f]{24}",
    re.MULTILINE,
)
"""Ids, times, paths, commands, rules and verbs, backups, quoted texts, names of arguments."""
FORMS = re.compile(r"^ *(?:/|--|[A-Z]+…?|…).*$", re.MULTILINE)
"""What help says outside of brackets: commands, options and their forms."""


class Brackets:
    """A catalogue that words a message as itself, between brackets."""

    def gettext(self, message: str, /) -> str:
        """Return the message in brackets."""
        return f"{OPEN}{message}{SHUT}"

    def ngettext(self, one: str, many: str, number: int, /) -> str:
        """Return the form that English has, in brackets."""
        return f"{OPEN}{one if number == 1 else many}{SHUT}"


def outside(text: str) -> str:
    """Return what stands outside of all brackets."""
    kept, depth = [], 0
    for char in text:
        depth += char == OPEN
        if not depth:
            kept.append(char)
        depth -= char == SHUT
    assert depth == 0, text
    return "".join(kept)


def unworded(text: str, *data: str) -> list[str]:
    """Return the words that nobody worded and that are no data."""
    rest = DATA.sub(" ", outside(text))
    for known in sorted(data, key=len, reverse=True):
        rest = rest.replace(known, " ")
    return WORD.findall(rest)


def speaking(home: Path, **environ: str) -> Runtime:
    return opened(home, {"LANG": LANGUAGE, **environ})


def lines(card: Card, *, body: bool = True) -> str:
    return "\n".join([card.title, *(card.body if body else ()), *card.detail, card.hint])


def ask(runtime: Runtime, verb: AnyVerb, **given: Any) -> Answer:  # noqa: ANN401 - JSON
    answer = runtime.call(verb.name, given, session=runtime.session, origin="user", audience=min(verb.shown_to))
    with runtime.speaking():
        return answer._replace(card=answer.anew())


SAID = ("Ann", "Staging listens there", "alpha", "kiri", "beta", "sweep", SESSION, "default", "auto", "embedded")


def stores() -> Iterable[str]:
    """Return names that doctors print: plugins, and the persona of nobody."""
    return ("persona_companion", "persona_mind", "_default", "embedded", "sweep")
