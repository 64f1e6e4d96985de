"""The ``backlog`` verbs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import RefusedError
from persona_hooks.speech import phrase
from persona_hooks.verbs import EVERYONE, Verb
from persona_mind.backlog import words
from persona_mind.backlog.lines import due_label, shown
from persona_mind.backlog.outcomes import Added, Listed, Shifted
from persona_mind.backlog.params import SNOOZE_SECONDS, Add, Done, Drop, List, Snooze, Take, deadline, limit
from persona_mind.backlog.service import Draft
from persona_mind.kernel import clock
from persona_mind.kernel.admitting import admitted, may_wait

if TYPE_CHECKING:
    from collections.abc import Callable

    from persona_hooks.ports import Session
    from persona_hooks.verbs import AnyVerb, Call
    from persona_mind.backlog.model import State
    from persona_mind.backlog.service import Backlog, Moved
    from persona_mind.kernel.access import Access

GUIDE: Final = (
    "What this project means to do later. Add unfinished intent that should outlive this conversation, with due when "
    "there is a time for it; take an item before you work on it, and mark it done or drop it afterwards. It holds "
    "intent, not facts: what lasts belongs in memory."
)


@dataclass(frozen=True, slots=True)
class BacklogVerbs:
    """The verbs over one profile's backlogs.

    Attributes:
        access: The gate that every call passes.
        backlog: The service.
        notice: Returns what a person is told before anything was ever stored, else None.
        changed: Told of every change, so that reminders are set anew.
    """

    access: Access
    backlog: Backlog
    notice: Callable[[], str | None]
    changed: Callable[[Session], None]

    def verbs(self) -> tuple[AnyVerb, ...]:
        """Return them all."""
        return (
            Verb("backlog.add", Add, "write", self.add, words.added, EVERYONE, "mind backlog add"),
            Verb("backlog.list", List, "read", self.list, words.listed, EVERYONE, "mind backlog"),
            Verb("backlog.take", Take, "write", self.take, words.taken, EVERYONE, "mind backlog take"),
            Verb("backlog.done", Done, "write", self.done, words.shut, EVERYONE, "mind backlog done"),
            Verb("backlog.drop", Drop, "write", self.drop, words.shut, EVERYONE, "mind backlog drop"),
            Verb("backlog.snooze", Snooze, "write", self.snooze, words.snoozed, EVERYONE, "mind backlog snooze"),
        )

    def add(self, call: Call, params: Add) -> Added:
        """Admit every text, then queue the item."""
        scope, permit = self.access.enter(call)
        now = self.backlog.now()
        if not params.insist and may_wait(call.origin):
            # As in memory.remember: what was erased is not kept in quarantine either.
            self.backlog.erased.require(params.text, params.tags)
        elif params.insist and call.origin != "user":
            raise RefusedError(
                phrase("Only a person takes back what was erased."), reason="not_a_person", field="insist"
            )
        draft = Draft(
            text=admitted(params.text.strip(), call.origin, "text"),
            tags=tuple(admitted(tag.strip(), call.origin, "tags") for tag in params.tags),
            due=deadline(params.due, params.due_in_seconds, now),
            ttl_hours=params.ttl_hours,
            again=params.again,
            insist=params.insist,
        )
        notice = self.notice()
        queued = self.backlog.add(scope, draft, permit)
        self.changed(call.session)
        item = queued.item
        return Added(
            changed="yes",
            id=item.id,
            state=item.state,
            due=_stamp(item.due_at_epoch_ms),
            due_label=due_label(item.due_at_epoch_ms, now),
            expires_at=item.expires_at,
            refreshed=queued.refreshed,
            notice=notice if call.audience == "person" else None,
            warning=queued.repaired,
        )

    def list(self, call: Call, params: List) -> Listed:
        """List what the owner, or everyone, means to do."""
        scope, _ = self.access.enter(call)
        now, most = self.backlog.now(), limit(params.max)
        if params.id is not None:
            found = [self.backlog.read(scope, params.id)]
        else:
            found = self.backlog.own(scope, everyone=params.all, states=(params.state,) if params.state else ())
        items = tuple(shown(item, now) for item in found[:most])
        return Listed(
            count=len(items),
            total=len(found),
            max=most,
            asked=params.max,
            withheld=len(found) - len(items),
            withheld_unsafe=sum(bool(item.withheld) for item in items),
            ids=tuple(item.id for item in items),
            items=items,
            whole=params.id is not None,
            everyone=params.all,
            warning=self.backlog.served(scope),
        )

    def take(self, call: Call, params: Take) -> Shifted:
        """Take an item."""
        scope, permit = self.access.enter(call)
        return self._shifted(call, self.backlog.take(scope, params.id, permit))

    def done(self, call: Call, params: Done) -> Shifted:
        """Close an item as done."""
        return self._close(call, params.id, "done", params.note)

    def drop(self, call: Call, params: Drop) -> Shifted:
        """Close an item that will not be done."""
        return self._close(call, params.id, "dropped", params.note)

    def snooze(self, call: Call, params: Snooze) -> Shifted:
        """Give an item another deadline."""
        scope, permit = self.access.enter(call)
        now = self.backlog.now()
        due = deadline(params.due, params.due_in_seconds, now) or now + timedelta(seconds=SNOOZE_SECONDS)
        return self._shifted(call, self.backlog.snooze(scope, params.id, due, permit))

    def _close(self, call: Call, handle: str, state: State, note: str | None) -> Shifted:
        scope, permit = self.access.enter(call)
        if note is not None and may_wait(call.origin):
            self.backlog.erased.require(note)
        said = None if note is None else admitted(note.strip(), call.origin, "note")
        return self._shifted(call, self.backlog.close(scope, handle, state, said, permit))

    def _shifted(self, call: Call, moved: Moved) -> Shifted:
        if moved.changed:
            self.changed(call.session)
        item = moved.item
        return Shifted(
            changed="yes" if moved.changed else "no",
            id=item.id,
            state=item.state,
            due=_stamp(item.awaits),
            item=shown(item, self.backlog.now()),
            warning=moved.repaired,
        )


def _stamp(due: float | None) -> str | None:
    return None if due is None else clock.from_milliseconds(due)
