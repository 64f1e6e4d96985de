"""``persona import`` and ``persona export``: a verb each, with a bar on a terminal that says how far an import is."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from persona_hooks.speech import say
from persona_host.headless import StderrUi
from persona_host.oneshot import opened, printed
from persona_host.where import told_of_git

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from persona_hooks.cards import Level
    from persona_host.place import Place

_PERCENT = re.compile(r"(\d{1,3})%(?:\D+(\d+))?")


class BarUi(StderrUi):
    """Shows a status line that begins with a percentage as a bar, and takes it away once it is cleared."""

    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def notify(self, text: str, level: Level = "info") -> None:
        """Print one line above the bar."""
        if self._bar is None:
            super().notify(text, level)
        else:
            self._bar.console.print(text, markup=False, highlight=False)

    def status(self, key: str, text: str | None) -> None:
        """Move the bar, or take it away."""
        match = _PERCENT.match(text or "")
        if match is None:
            self.close()
            return
        if self._bar is None:
            self._begin(key, int(match[2] or 0))
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=int(match[1]))

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = self._task = None

    def _begin(self, key: str, total: int) -> None:
        from rich.console import Console  # noqa: PLC0415 - only a terminal sees it
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn  # noqa: PLC0415 - as above

        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
        self._bar = Progress(*columns, console=Console(stderr=True, markup=False, highlight=False), transient=True)
        self._task = self._bar.add_task(
            say("{key} {number} entries", key=key, number=total) if total else key, total=100
        )
        self._bar.start()


def perform(place: Place, verb: str, arguments: dict[str, Any], *, as_json: bool, plain: bool) -> int:
    """Perform a verb for the person who typed the command; print its card and return the exit status."""
    bar = BarUi() if sys.stderr.isatty() and not (plain or as_json) else None
    try:
        with opened(place, bar or StderrUi(), english=as_json) as (runtime, _):
            answer = runtime.call(verb, arguments, session=runtime.session, origin="user", audience="person")
            if verb == "archive.export":
                answer = told_of_git(answer)
    finally:
        if bar is not None:
            bar.close()
    return printed(answer, as_json=as_json, plain=plain)
