"""Faults: what is wrong with a file that people edit by hand, with the line where they should look."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from persona_hooks.cards import one_line
from persona_hooks.speech import phrase

if TYPE_CHECKING:
    from pathlib import Path


class Fault(NamedTuple):
    """One thing to correct in one file.

    Attributes:
        path: The file or folder.
        message: What is wrong and what to do, without the file's own text.
        line: Where, counted from 1; None where it is the file as a whole.
        field: The key that it concerns; empty where there is none.
        fatal: Whether the file is unusable for it; otherwise it is read, with what the message says instead.
        names: The personas that cannot be used because of it, as far as known.
    """

    path: Path
    message: str
    line: int | None = None
    field: str = ""
    fatal: bool = True
    names: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """``personas/kiri/brief.yml:3: what is wrong``: the last parts of the path, and the sentence."""
        parts = self.path.parts[-3:]
        return phrase("{field}: {what}", field=readable("/".join(parts)) + self.place, what=self.message)

    @property
    def place(self) -> str:
        """``:3``, or nothing."""
        return "" if self.line is None else f":{self.line}"

    def about(self, *names: str) -> Fault:
        """Return the fault with the personas that it makes unusable."""
        return self._replace(names=tuple(dict.fromkeys((*self.names, *names))))


class FaultError(Exception):
    """Reading one file stops at this fault. It never leaves the companion: a fault is reported, not raised."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.text)
        self.fault = fault


def readable(path: str | Path) -> str:
    """Return a path that can be printed on one line, whatever bytes its names are made of."""
    return one_line(os.fsencode(path).decode("utf-8", "backslashreplace"))
