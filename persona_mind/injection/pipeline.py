"""From a prompt to the blocks of its request. Reads only: nothing is written, swept or repaired here."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from persona_hooks.brakes import braked
from persona_hooks.errors import BusyError, ConflictError, PersonaError
from persona_hooks.specs import Block
from persona_hooks.speech import say, say_n, worded
from persona_mind.injection.choose import Choice, Picked, choose, choose_working
from persona_mind.injection.deferred import Deferred, choose_deferred
from persona_mind.injection.noted import NOTES_TOKENS, Noted, block, choose_noted
from persona_mind.injection.render import Section, Tally, body, fenced, overhead
from persona_mind.kernel.budget import TOTAL_TOKENS, Allowance, Caps, tokens
from persona_mind.kernel.damaged import served
from persona_mind.kernel.settings import has_brakes
from persona_store.structure import inline, new_fence_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from persona_hooks.bus import BusClient
    from persona_hooks.owner import Owner
    from persona_hooks.ports import Session, Ui
    from persona_hooks.turn import Turn
    from persona_mind.backlog.service import Backlog
    from persona_mind.facts.model import Tier
    from persona_mind.facts.search import View, Views
    from persona_mind.facts.service import Facts
    from persona_mind.kernel.access import Access
    from persona_mind.kernel.scope import Scope
    from persona_mind.notes.view import View as NotesView
    from persona_mind.recorder.service import Request

T = TypeVar("T")

STABLE_ORDER: Final = 30
NOTES_ORDER: Final = 60
TASK_ORDER: Final = 70
FOOTER_TOKENS: Final = 110
TASK_TOKENS: Final = 800
"""What the standing part always leaves for what the prompt brings."""
BACKLOG_TOKENS: Final = 240
"""What facts leave for the backlog, where there is one."""
EMPTY: Final = (
    "Nothing is remembered yet for this persona and project. The `memory` tool keeps what should last, the `backlog` "
    "tool what is to be done later; you may ignore this line."
)
UNREAD: Final = (
    "Memory could not be read just now. That is not an empty memory: do not tell the person that nothing is "
    "remembered. What is wrong, `persona doctor` tells the person."
)
UNREAD_IN_PART: Final = (
    "Part of memory could not be read just now, so that more may be remembered than what stands here. What is wrong, "
    "`persona doctor` tells the person."
)


@dataclass(slots=True)
class _Known:
    """What is kept of one session: its fence, what was said once, and whether all could be read the last time."""

    generation: int
    key: str = field(default_factory=new_fence_key)
    told: set[str] = field(default_factory=set)
    unread: bool = False


@dataclass(frozen=True, slots=True)
class _Seen:
    """The choices of one request; None where a tier takes no part or could not be read."""

    long: Choice | None
    project: Choice | None
    working: Choice | None
    deferred: Deferred
    known: int
    noted: Noted = field(default_factory=Noted)
    views: tuple[View, ...] = ()


class _Composed(NamedTuple):
    """What one request is given, and what was counted on the way."""

    blocks: tuple[Block, ...]
    seen: _Seen
    tallies: tuple[Tally, ...]
    scope: Scope
    lean: bool

    def request(self, prompt: str) -> Request:
        """Return it as the recorder keeps it."""
        from persona_mind.injection.recorded import recorded  # noqa: PLC0415 - a preview does without the recorder

        return recorded(prompt, self.seen.views, self.seen.noted.view, self.tallies)


class Injection:
    """The injection of one plugin instance."""

    def __init__(
        self,
        access: Access,
        facts: Facts,
        views: Views,
        backlog: Backlog,
        *,
        notes: Callable[[Session, Scope], NotesView | None],
        asked: Callable[[Session, Scope, Request], None],
        bus: BusClient,
        ui: Ui,
    ) -> None:
        self._access = access
        self._facts = facts
        self._views = views
        self._backlog = backlog
        self._notes = notes
        self._asked = asked
        self._bus = bus
        self._ui = ui
        self._sessions: dict[tuple[str, str], _Known] = {}
        self.caps = Caps()

    def blocks(self, session: Session, prompt: str, notes: Sequence[str], turn: Turn) -> list[Block]:
        """Return the blocks for one request, what changes least first; none without an owner or when memory is off.

        Args:
            session: The conversation.
            prompt: What is asked.
            notes: Our own lines about this message, such as what was captured from it.
            turn: The time there is.
        """
        composed = self._compose(session, prompt, notes, turn)
        if composed is None:
            return []
        if composed.lean:
            return list(composed.blocks)
        self._asked(session, composed.scope, composed.request(prompt))
        if not (composed.blocks or composed.seen.known) and self._first(self._of(session), "empty"):
            return [Block("mind-empty", EMPTY, TASK_ORDER)]
        return list(composed.blocks)

    def preview(self, session: Session, turn: Turn) -> list[Block]:
        """Return what the model would be given now if nothing in particular were asked."""
        composed = self._compose(session, "", (), turn)
        return [] if composed is None else list(composed.blocks)

    def _compose(self, session: Session, prompt: str, notes: Sequence[str], turn: Turn) -> _Composed | None:
        """Return what a request is given; None where there is no owner, or memory is off."""
        if not self._access.enabled(session):
            return None
        try:
            owner = self._access.owner(session)
            scope = self._access.scope(session, owner)
        except PersonaError:
            return None
        turn.check()
        lean = session.leg or owner.leg
        seen = self._look(session, scope, prompt, lean=lean, turn=turn)
        return self._render(self._of(session), owner, scope, seen, [] if lean else notes, lean=lean)

    def forget(self, session: Session) -> None:
        """Let go of a session that begins anew or has ended."""
        self._sessions.pop((session.id, session.seat), None)

    def _look(self, session: Session, scope: Scope, prompt: str, *, lean: bool, turn: Turn) -> _Seen:
        objectives = not braked(self._bus, session, declared=has_brakes(self._bus, session.id))
        known = self._of(session)
        known.unread = False
        now = self._facts.now()
        long = self._view(known, scope, ("persona", "shared"), now)
        project = working = None
        deferred = Deferred()
        if not lean and not scope.project.home:
            project = self._view(known, scope, ("project",), now)
            working = self._view(known, scope, ("stm",), now)
            deferred = self._read(known, "backlog", lambda: self._deferred(scope, now)) or deferred
        turn.check()
        seen = self._choose(prompt, long, project, working, deferred, objectives=objectives)
        noted = None if lean else self._read(known, "notes", lambda: self._noted(session, scope, prompt, objectives))
        turn.check()
        return seen if noted is None else replace(seen, noted=noted, known=seen.known + noted.known)

    def _noted(self, session: Session, scope: Scope, prompt: str, objectives: bool) -> Noted:  # noqa: FBT001 - one caller
        view = self._notes(session, scope)
        return Noted() if view is None else choose_noted(view, prompt, self._facts.now(), objectives=objectives)

    def _choose(
        self,
        prompt: str,
        long: View | None,
        project: View | None,
        working: View | None,
        deferred: Deferred,
        *,
        objectives: bool,
    ) -> _Seen:
        """Choose from each view; what one of them says, a later one does not repeat."""
        caps = self.caps
        first = None if long is None else choose(long, caps.long, prompt, objectives=objectives)
        said = first.keys if first else frozenset()
        second = (
            None if project is None else choose(project, caps.project, prompt, objectives=objectives, elsewhere=said)
        )
        said |= second.keys if second else frozenset()
        third = None if working is None else choose_working(working, caps.working, prompt, elsewhere=said)
        views = tuple(view for view in (long, project, working) if view)
        known = sum(len(view.facts) for view in views)
        return _Seen(first, second, third, deferred, known + deferred.known, views=views)

    def _view(self, known: _Known, scope: Scope, tiers: tuple[Tier, ...], now: datetime) -> View | None:
        view = self._read(known, tiers[0], lambda: self._views.view(scope, tiers, now))
        for tier, snapshot in view.snapshots if view else ():
            told = served(self._facts.files.document(tier, scope), snapshot.damage)
            if told is not None and self._first(known, f"damaged:{tier}"):
                self._ui.notify(worded(told), "warning")
        return view

    def _deferred(self, scope: Scope, now: datetime) -> Deferred:
        return choose_deferred(self._backlog, scope, self.caps.backlog, now)

    def _read(self, known: _Known, name: str, read: Callable[[], T]) -> T | None:
        """Return what is read; one file that cannot be read costs its own entries, and is told once."""
        try:
            return read()
        except (BusyError, ConflictError):
            raise
        except PersonaError as error:
            known.unread = True
            if self._first(known, f"unreadable:{name}"):
                self._ui.notify(say("Memory could not be read in part: {why}", why=error.message), "warning")
            return None

    def _render(
        self, known: _Known, owner: Owner, scope: Scope, seen: _Seen, notes: Sequence[str], *, lean: bool
    ) -> _Composed:
        persona, now = owner.persona or "no persona", self._facts.now()
        tally = self._tally(seen)
        total = Allowance(TOTAL_TOKENS)
        total.reserve(FOOTER_TOKENS + 2 * tokens(overhead(known.key, persona)) + tokens("\n".join(notes)))
        # The whole of what notes may take is left to them, so that this part does not change with the notes that match.
        others = TASK_TOKENS + (NOTES_TOKENS if seen.noted.known else 0)
        stable = body(_standing(seen, persona, scope), total.part(others), tally, now)
        noted, notes_tally = block(seen.noted, known.key, persona, total, now)
        facts = total.part(BACKLOG_TOKENS) if seen.deferred.lines else total
        task = body(_matched(seen, persona, scope), facts, tally, now)
        task += body([Section("Backlog (to be done later)", seen.deferred.lines)], total, tally, now)
        if not lean and (line := tally.line()):
            task.append(line)
        self._warn(known, tally)
        after = "\n".join([fenced(known.key, persona, task), *notes]).strip("\n")
        unread = (UNREAD_IN_PART if seen.known else UNREAD) if known.unread else ""
        parts = (
            ("mind", fenced(known.key, persona, stable), STABLE_ORDER),
            ("mind-notes", noted, NOTES_ORDER),
            ("mind-task", after, TASK_ORDER),
            ("mind-unread", unread, TASK_ORDER),
        )
        blocks = tuple(Block(name, text, order) for name, text, order in parts if text)
        return _Composed(blocks, seen, (tally, notes_tally), scope, lean=lean)

    def _tally(self, seen: _Seen) -> Tally:
        tally = Tally({})
        for name, choice in (("long-term", seen.long), ("project", seen.project), ("working", seen.working)):
            if choice is not None:
                tally.skip("objective", choice.objectives_left)
                tally.skip(name, choice.left)
                tally.withheld += choice.withheld
        tally.skip("backlog", seen.deferred.left)
        tally.withheld += seen.deferred.withheld
        return tally

    def _warn(self, known: _Known, tally: Tally) -> None:
        if tally.withheld and self._first(known, f"withheld:{tally.withheld}"):
            self._ui.notify(
                say_n(
                    "{number} remembered entry is withheld: its text breaks a rule. See `/mind doctor`.",
                    "{number} remembered entries are withheld: their text breaks a rule. See `/mind doctor`.",
                    tally.withheld,
                ),
                "warning",
            )

    def _first(self, known: _Known, what: str) -> bool:
        """Return whether something is said for the first time in this session."""
        fresh = what not in known.told
        known.told.add(what)
        return fresh

    def _of(self, session: Session) -> _Known:
        key = session.id, session.seat
        known = self._sessions.get(key)
        if known is None or known.generation != session.generation:
            known = self._sessions[key] = _Known(session.generation)
        return known


def _standing(seen: _Seen, persona: str, scope: Scope) -> list[Section]:
    chosen = [item for choice in (seen.long, seen.project) if choice for item in choice.standing]
    objectives = [item for item in chosen if item.held.fact.kind == "objective"]
    return [
        Section(f"Objective ({inline(persona)})", objectives),
        Section(f"Long-term ({inline(persona)})", _others(chosen, project=False)),
        Section(f"Project ({inline(scope.project.root.name)})", _others(chosen, project=True)),
    ]


def _matched(seen: _Seen, persona: str, scope: Scope) -> list[Section]:
    chosen = [item for choice in (seen.long, seen.project) if choice for item in choice.matched]
    working = seen.working.matched if seen.working else []
    project = inline(scope.project.root.name)
    return [
        Section(f"Objective ({inline(persona)})", [item for item in chosen if item.held.fact.kind == "objective"]),
        Section(f"Long-term ({inline(persona)}), for this task", _others(chosen, project=False)),
        Section(f"Project ({project}), for this task", _others(chosen, project=True)),
        Section(f"Working context ({project}, about two days)", working),
    ]


def _others(items: Sequence[Picked], *, project: bool) -> list[Picked]:
    return [item for item in items if item.held.fact.kind != "objective" and (item.held.tier == "project") == project]
