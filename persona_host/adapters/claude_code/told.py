"""What the person is told in Claude Code: cards as text, with commands as they are typed there."""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from persona_hooks.cards import one_line

if TYPE_CHECKING:
    from persona_hooks.cards import Card, Level

PLUGIN: Final = "persona"
"""The plugin's name: its commands are ``/persona:mind`` and the like."""
MAX_SHOWN: Final = 9_000
"""Characters that the person is shown at most. Claude Code shows 10,000 and puts longer texts into a file."""

_SLASH: Final = re.compile(r"(?<![\w/.:])/(?=(?:mind|persona)(?![\w/:-]))")
_ADVICE: Final = re.compile(r"`/(?:mind|persona)\b")


class Notices:
    """``ports.Ui`` that keeps what is to be shown until Claude Code can be told."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._lock = threading.Lock()

    def notify(self, text: str, level: Level = "info") -> None:
        """Keep one short line."""
        line = here(one_line(text))
        self._add(line if level in {"info", "success"} else f"{level}: {line}")

    def status(self, key: str, text: str | None) -> None:
        """Drop it: plugins have no place in Claude Code's status line."""

    def card(self, card: Card) -> None:
        """Keep a card, whole."""
        self._add(worded(card))

    def take(self) -> str:
        """Return what was kept and forget it."""
        with self._lock:
            lines, self._lines = self._lines, []
        return "\n".join(lines)[:MAX_SHOWN]

    def _add(self, text: str) -> None:
        with self._lock:
            self._lines.append(text)


def worded(card: Card) -> str:
    """Return a card as Claude Code shows it: sanitized, whole, no longer than it shows.

    Lines of the body are left as they are, since they may quote a memory, unless they begin with a command of ours.
    """
    body = tuple(here(line) if _ADVICE.match(line) else line for line in card.body)
    detail = tuple(map(here, card.detail))
    return replace(card, title=here(card.title), body=body, detail=detail, hint=here(card.hint)).text()[:MAX_SHOWN]


def here(text: str) -> str:
    """Return a text of ours with ``/persona:mind …`` where it says ``/mind …``."""
    return _SLASH.sub(f"/{PLUGIN}:", text)
