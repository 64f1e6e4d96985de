"""What can be done with facts: remember, read, forget, promote, sweep.

Every change runs inside the profile's memory transaction, because whether an id is ambiguous is decided over all tiers.
What is added is written before what it replaces is removed: an interruption leaves a duplicate, never a loss.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from persona_hooks.errors import InvalidError, PersonaError, RefusedError, UncertainError
from persona_hooks.speech import phrase
from persona_mind.facts import rewrite
from persona_mind.facts.files import FactFiles, Held
from persona_mind.facts.model import TIERS, Fact, Kind, LongFact, Tier, WorkingFact
from persona_mind.facts.resolve import resolve
from persona_mind.kernel import clock, identity, labels
from persona_mind.kernel.approvals import approvals_of
from persona_mind.kernel.arriving import via
from persona_mind.kernel.damaged import repaired
from persona_mind.kernel.erased import Erased
from persona_mind.kernel.rowfields import LIFE_HOURS, MAX_TEXT, units
from persona_mind.kernel.scope import DEFAULT_SEGMENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from persona_mind.kernel.access import Permit
    from persona_mind.kernel.clock import Now
    from persona_mind.kernel.scope import Scope
    from persona_store.admission import Admitted
    from persona_store.document import Row
    from persona_store.transaction import Profile, Transaction


class Draft(NamedTuple):
    """A fact to be remembered; every text in it has been admitted.

    Attributes:
        tier: Where it goes.
        ttl_hours: How long a working fact lives; None for 48 hours.
        supersedes: The id of a fact that it replaces.
        insist: Its person wants it although it was erased for good.
    """

    kind: Kind
    text: Admitted
    tags: tuple[Admitted, ...] = ()
    tier: Tier = "persona"
    ttl_hours: float | None = None
    supersedes: str | None = None
    source: Admitted | None = None
    derived_from: tuple[str, ...] = ()
    insist: bool = False


class Saved(NamedTuple):
    """A fact that was written.

    Attributes:
        fact: As it stands in its file now.
        again: It was there before and has been refreshed.
        retired: How many rows it replaced.
        repaired: What a person is told where a damaged file was carried on from its previous version, as a phrase.
    """

    tier: Tier
    fact: Fact
    again: bool
    retired: int = 0
    repaired: str | None = None


class Forgotten(NamedTuple):
    """Rows that were removed, by tier, and how many equal ones of other personas stay; ``repaired`` as in `Saved`."""

    id: str
    tiers: tuple[Tier, ...]
    kept: int
    repaired: str | None = None


class Facts:
    """The facts of one profile.

    Args:
        profile: The files.
        now: The clock.
        host: The host that new facts come through, as it calls itself; empty for none.
    """

    def __init__(self, profile: Profile, now: Now, host: str = "") -> None:
        self.files = FactFiles(profile)
        self.erased = Erased(profile)
        self.now = now
        self._host = host

    def visible(self, scope: Scope, tiers: Iterable[Tier] = TIERS) -> list[Held]:
        """Return every live row that the owner can see: its own, the shared ones, all of the project. Reads only."""
        now = self.now()
        return [held for held in self.files.read(scope, tiers) if held.fact.live(now)]

    def read(self, scope: Scope, handle: str) -> Held:
        """Return the one fact that ``handle`` names, from the owner's own tier first.

        Raises:
            NotFoundError, RefusedError: As ``resolve``.
        """
        return min(resolve(self.visible(scope), handle), key=lambda held: TIERS.index(held.tier))

    def remember(self, scope: Scope, draft: Draft, permit: Permit) -> Saved:
        """Write a fact, or refresh the one that says the same; retire what it supersedes, wherever that is.

        Raises:
            InvalidError: A text is empty or too long, or a working fact's hours do not fit.
            NotFoundError, RefusedError: ``supersedes`` names nothing, several facts, or another persona's; or the
                text was erased for good, and nobody insists on it.
            UncertainError: It was written, but what it supersedes could not be retired, or it still counts as erased.
        """
        now = self.now()
        fact = _fact(scope, draft, now, labels.host(via(self._host)) or None)
        with self.files.profile.transaction(permit) as transaction:
            if draft.insist:
                self.erased.require_finished(fact.text, (fact.source, *fact.tags))
            else:
                self.erased.require(fact.text, fact.tags, (fact.source,))
            old = self._superseded(scope, draft.supersedes)
            if any(held.fact.key == fact.key for held in old):
                # The same fact said again, perhaps for another tier: it replaces no other one.
                fact = fact.model_copy(update={"supersedes": None})
            saved = self._record(transaction, scope, draft.tier, fact, old)
            retired = self._retire(transaction, scope, [held for held in old if held.tier != draft.tier], after=saved)
            if draft.insist:
                self._insist(transaction, fact)
        return saved._replace(repaired=saved.repaired or retired)

    def forget(self, scope: Scope, handle: str, permit: Permit, *, tier: Tier | None = None) -> Forgotten:
        """Remove a fact from every tier where the owner may, or from one.

        Raises:
            NotFoundError, RefusedError: As ``resolve``; also where only other personas recorded it.
        """
        with self.files.profile.transaction(permit) as transaction:
            found = resolve(self.visible(scope, TIERS), handle)
            if tier is not None:
                found = resolve([held for held in found if held.tier == tier], handle)
            mine = _changeable(found, scope)
            told = self._retire(transaction, scope, mine)
        tiers = tuple(dict.fromkeys(held.tier for held in mine))
        return Forgotten(mine[0].fact.id, tiers, len(found) - len(mine), told)

    def promote(self, scope: Scope, handle: str, permit: Permit, *, tier: Tier = "project") -> Saved:
        """Make a live working fact of the owner's a fact for good; equal ones of other personas stay.

        Raises:
            NotFoundError, RefusedError: The id names no working fact, several, or another persona's; home is
                no project; or its text is being erased.
            UncertainError: It was written for good, but the working row could not be removed.
        """
        if tier == "project":
            _needs_project(scope)
        now = self.now()
        with self.files.profile.transaction(permit) as transaction:
            found = resolve(self.visible(scope), handle)
            working = [held for held in found if held.tier == "stm"]
            if not working:
                raise RefusedError(
                    phrase("Only a working fact can be promoted; this one is kept already."), reason="not_working"
                )
            source = _changeable(working, scope)[0]
            # An erasure that has passed the place where it comes to stand would not see it there.
            self.erased.require(source.fact.text, source.fact.tags, (source.fact.source,))
            saved = self._record(transaction, scope, tier, _promoted(source.fact, tier, now), source=source.row)
            retired = self._retire(transaction, scope, [source], after=saved)
        return saved._replace(repaired=saved.repaired or retired)

    def sweep(self, scope: Scope, permit: Permit) -> int:
        """Remove the project's expired working facts from disk; return how many there were."""
        now = self.now()
        document = self.files.document("stm", scope)
        expired = sum(not value.live(now) for value in document.read().values)
        if expired:
            with self.files.profile.transaction(permit) as transaction:
                transaction.update(document, rewrite.sweep(now))
        return expired

    def _insist(self, transaction: Transaction, fact: Fact) -> None:
        try:
            self.erased.lift(transaction, fact.text, fact.tags, (fact.source,))
        except PersonaError as error:
            raise UncertainError(
                phrase("It is kept, but it still counts as erased: saying it again will be refused."),
                changed="yes",
                reason="partly_done",
                cause=error.reason,
            ) from error

    def _superseded(self, scope: Scope, handle: str | None) -> list[Held]:
        if handle is None:
            return []
        return _changeable(resolve(self.visible(scope), handle, "supersedes"), scope)

    def _record(
        self,
        transaction: Transaction,
        scope: Scope,
        tier: Tier,
        fact: Fact,
        old: Sequence[Held] = (),
        *,
        source: Row[Fact] | None = None,
    ) -> Saved:
        document = self.files.document(tier, scope)
        # A superseded row that says the same is the one to refresh, not one to remove.
        retired = {held.row.raw for held in old if held.tier == tier and held.fact.key != fact.key}
        change = rewrite.Record(document, fact, self.now(), own_rows_only=tier == "stm", retired=retired, source=source)
        done = transaction.update(document, change)
        elsewhere = sum(held.tier != tier for held in old)
        return Saved(tier, change.result, change.again, len(retired) + elsewhere, repaired(document, done.repaired))

    def _retire(
        self, transaction: Transaction, scope: Scope, old: Iterable[Held], *, after: Saved | None = None
    ) -> str | None:
        """Remove rows; return what a person is told where a damaged file was carried on from its previous version."""
        by_tier: dict[Tier, set[bytes]] = {}
        told = None
        for held in old:
            by_tier.setdefault(held.tier, set()).add(held.row.raw)
        for done, (tier, raws) in enumerate(by_tier.items()):
            document = self.files.document(tier, scope)
            try:
                told = repaired(document, transaction.update(document, rewrite.retire(raws)).repaired) or told
            except PersonaError as error:
                if after is None and not done:
                    raise
                raise UncertainError(
                    phrase(
                        "Part of this was done: the new fact is kept, or one copy is gone; another could not be "
                        "removed."
                    ),
                    changed="yes",
                    reason="partly_done",
                    cause=error.reason,
                    tier=tier,
                ) from error
        return told


def _fact(scope: Scope, draft: Draft, now: datetime, host: str | None) -> Fact:
    text, tags = draft.text.text.strip(), tuple(tag.text.strip() for tag in draft.tags)
    if not identity.normal_text(text):
        raise InvalidError(phrase("text: there is nothing to remember in it."), field="text")
    if units(text) > MAX_TEXT:
        raise InvalidError(phrase("text: at most {limit} characters.", limit=MAX_TEXT), field="text", limit=MAX_TEXT)
    if draft.tier == "project":
        _needs_project(scope)
    moment = clock.format(now)
    key = identity.key(draft.kind, text, tags)
    return (WorkingFact if draft.tier == "stm" else LongFact)(
        id=identity.content_id(key),
        kind=draft.kind,
        text=text,
        tags=tuple(tag for tag in tags if tag),
        recorded_at=moment,
        last_seen_at=moment,
        supersedes=draft.supersedes,
        persona=scope.segment if draft.tier in {"project", "stm"} else None,
        expires_at=_expiry(draft, now),
        source=draft.source.text if draft.source and draft.source.text.strip() else None,
        derived_from=draft.derived_from or None,
        origin=draft.text.origin,
        host=host,
        approvals=approvals_of((draft.text, *draft.tags, draft.source)),
    )


def _expiry(draft: Draft, now: datetime) -> str | None:
    if draft.tier != "stm":
        return None
    hours = LIFE_HOURS if draft.ttl_hours is None else draft.ttl_hours
    return clock.format(now + timedelta(hours=hours))


def _promoted(fact: Fact, tier: Tier, now: datetime) -> Fact:
    kept = fact.model_dump(exclude={"expires_at", "persona"})
    owner = fact.persona if tier == "project" else None
    return LongFact(**{**kept, "last_seen_at": clock.format(now), "persona": owner})


def _changeable(found: Sequence[Held], scope: Scope) -> list[Held]:
    """Return the rows that the owner may change: all but other personas' working facts."""
    mine = [held for held in found if held.tier != "stm" or (held.fact.persona or DEFAULT_SEGMENT) == scope.segment]
    if not mine:
        raise RefusedError(
            phrase("Another persona recorded this working fact; only that persona may change it."),
            reason="not_owner",
            owner=labels.told(found[0].fact.persona) or None,
        )
    return mine


def _needs_project(scope: Scope) -> None:
    if scope.project.home:
        raise RefusedError(
            phrase("Home is no project: name `persona` or `shared` instead."), reason="no_project", field="scope"
        )
