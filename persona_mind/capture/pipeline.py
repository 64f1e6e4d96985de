"""From a person's message to a written fact or a hint, by provenance.

Only the person's own words are looked at: what an extension typed, what a peer or a worker reported and what a tool
returned never are. A message without a cue touches no storage. A host that does not tell what was typed still tells
what is asked: that is hinted at, and never written, since nobody can say whose words they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import ConflictError, PersonaError
from persona_hooks.speech import say
from persona_mind.facts.service import Draft
from persona_mind.kernel.admitting import admitted
from persona_mind.kernel.entries import CARD
from persona_mind.kernel.erased import ERASED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from persona_hooks.owner import Owner
    from persona_hooks.ports import Session, Ui
    from persona_hooks.specs import InputSource
    from persona_hooks.turn import Turn
    from persona_mind.capture.cues import Cue
    from persona_mind.facts.service import Facts
    from persona_mind.kernel.access import Access

DEFERRED_INPUT: Final = "pi-persona-deferred-input"
"""The only custom message that is the person's own input, replayed."""
SOURCE: Final = "direct user persistence cue"
TAG: Final = "auto-captured"
_KEPT: Final = 128
_REPORTING: Final = 0.2
"""The part of its time that a capture keeps to say what came of it."""
_LEAST: Final = 0.05
"""Seconds of that at least."""
_SAMPLE: Final = "Remember that this sentence is a sample."


@dataclass(slots=True)
class _Pending:
    """What the next block should say about the newest message of a session.

    Attributes:
        generation: The session's, when it was begun.
        lines: What to say.
        told: A message came since the last block.
        heard: The last messages.
        hinted: The last cues that were hinted at.
    """

    generation: int
    lines: list[str] = field(default_factory=list)
    told: bool = False
    heard: dict[str, None] = field(default_factory=dict)
    hinted: dict[str, None] = field(default_factory=dict)

    def begin(self, text: str) -> None:
        """Take a new message: what was to be said about the one before is void."""
        self.lines.clear()
        self.told = True
        _keep(self.heard, [text])


class Capture:
    """The capture of one plugin instance."""

    def __init__(
        self,
        access: Access,
        facts: Facts,
        ui: Ui,
        notice: Callable[[], str | None],
        changed: Callable[[Session], None],
    ) -> None:
        self._access = access
        self._facts = facts
        self._ui = ui
        self._notice = notice
        self._changed = changed
        self._pending: dict[tuple[str, str], _Pending] = {}

    def warm(self) -> None:
        """Load what the first cue would wait for: its hook has but a moment, and a conversation's start has more."""
        from persona_mind.capture.cues import find_cues  # noqa: PLC0415 - as in _look

        admitted(find_cues(_SAMPLE)[0].candidate, "user", "text")

    def input(self, session: Session, text: str, source: InputSource, turn: Turn) -> None:
        """Look at what a person typed; what an extension typed ends any notice and is not looked at."""
        self._of(session).begin(text)
        if source != "extension":
            self._look(session, text, turn)

    def message(self, session: Session, custom_type: str, text: str, turn: Turn) -> None:
        """Look at a custom message, if it is the person's own input replayed."""
        pending = self._of(session)
        pending.told = True
        if custom_type == DEFERRED_INPUT:
            pending.begin(text)
            self._look(session, text, turn)

    def lines(self, session: Session, prompt: str) -> list[str]:
        """Return what the next block should say about the newest message, once; about ``prompt`` where none came."""
        pending = self._of(session)
        if not pending.told and prompt not in pending.heard and self._access.enabled(session):
            self._hint(session, self._cues(session, prompt))
        pending.told = False
        lines, pending.lines = pending.lines, []
        return lines

    def forget(self, session: Session) -> None:
        """Let go of a session that begins anew or has ended, so that nothing leaks into its successor."""
        self._pending.pop((session.id, session.seat), None)

    def _look(self, session: Session, text: str, turn: Turn) -> None:
        silenced = self._access.silenced(session)
        if silenced is None and not self._access.enabled(session):
            return
        cues = self._cues(session, text)
        strong = [cue for cue in cues if cue.strong and self._access.settings(session).capture == "auto"]
        if silenced is not None:
            # Who asks for it to be remembered must not believe that it was.
            if strong:
                self._ui.notify(say("Not remembered: {why}.", why=silenced), "warning")
        elif strong:
            self._write(session, strong, turn)
        else:
            self._hint(session, cues)

    def _cues(self, session: Session, text: str) -> list[Cue]:
        """Return the cues of a text; none where nothing is captured."""
        if session.leg or self._access.settings(session).capture == "off":
            return []
        # Only conversations need the cues; a command does not wait for them to load.
        from persona_mind.capture.cues import find_cues  # noqa: PLC0415

        return find_cues(text)

    def _write(self, session: Session, cues: list[Cue], turn: Turn) -> None:
        try:
            owner = self._access.owner(session)
        except PersonaError:
            return  # without an owner there is no memory; the verbs say so when they are used
        if owner.leg:
            return
        notice = self._notice()
        written: list[str] = []
        early = _early(turn)
        for cue in cues:
            try:
                written.append(self._remember(session, owner, cue, early))
            except PersonaError as error:
                self._failed(session, error)
        if written:
            self._report(session, owner, written, notice, turn)

    def _remember(self, session: Session, owner: Owner, cue: Cue, turn: Turn) -> str:
        text, tag, source = (
            admitted(words, "user", field)
            for words, field in ((cue.candidate, "text"), (TAG, "tags"), (SOURCE, "source"))
        )
        draft = Draft(cue.kind, text, (tag,), source=source)
        scope = self._access.scope(session, owner)
        return self._facts.remember(scope, draft, self._access.permit(session, owner, turn)).fact.id

    def _failed(self, session: Session, error: PersonaError) -> None:
        self._ui.notify(say("Not remembered: {why}", why=error.message), "warning")
        if error.reason == ERASED:
            return  # no other wording is wanted from the model
        self._of(session).lines.append(
            "The person asked for something to be remembered and it was not saved. Retry once, with memory remember "
            "and a safe declarative sentence."
        )

    def _report(self, session: Session, owner: Owner, ids: list[str], notice: str | None, turn: Turn) -> None:
        """Tell the person and the next block, if session and owner are still those it was written for."""
        try:
            # What was written is told of, however late that is.
            self._access.permit(session, owner, turn._replace(deadline=None))()
            session.journal.append(session.guard(), CARD, {"card": "captured", "ids": ids, "first": notice is not None})
        except ConflictError:
            return  # the write stands in its own store; its notice has no place in another session
        except PersonaError as error:
            self._ui.notify(say("Remembered, but its card could not be kept: {why}", why=error.message), "warning")
        self._changed(session)
        self._of(session).lines.append(f"Already captured from this message: {', '.join(ids)}. Do not save it again.")

    def _hint(self, session: Session, cues: list[Cue]) -> None:
        pending = self._of(session)
        fresh = [cue for cue in cues if cue.snippet not in pending.hinted]
        if not fresh or not self._access.settings(session).nudge:
            return
        _keep(pending.hinted, [cue.snippet for cue in fresh])
        kinds = ", ".join(sorted({cue.kind for cue in fresh}))
        # The person's words are not repeated: a hint must not become a way into the prompt.
        pending.lines.append(
            f"This message may hold something lasting ({kinds}). If it does, save it with memory remember; otherwise "
            "ignore this line."
        )

    def _of(self, session: Session) -> _Pending:
        key = session.id, session.seat
        pending = self._pending.get(key)
        if pending is None or pending.generation != session.generation:
            pending = self._pending[key] = _Pending(session.generation)
        return pending


def _early(turn: Turn) -> Turn:
    """Return a turn that ends a little before this one, so that a write which waits in vain can still be told of."""
    if turn.deadline is None or turn.remaining is None:
        return turn
    return turn._replace(deadline=turn.deadline - max(turn.remaining * _REPORTING, _LEAST))


def _keep(kept: dict[str, None], new: Iterable[str]) -> None:
    """Add to the last few of a session, which is all that is remembered of it."""
    kept |= dict.fromkeys(new)
    for text in list(kept)[:-_KEPT]:
        del kept[text]
