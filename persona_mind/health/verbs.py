"""The verb ``mind.doctor``: how the mind and its files fare."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from persona_hooks.errors import PersonaError, StorageError
from persona_hooks.speech import phrase
from persona_hooks.verbs import PEOPLE, NoParams, Verb
from persona_mind.backlog.lines import shown as judged
from persona_mind.facts.files import rows
from persona_mind.facts.shown import shown
from persona_mind.health import asking
from persona_mind.health.outcomes import Finding, Meaning, Report, Store
from persona_mind.status import words
from persona_mind.status.params import Doctor
from persona_store import second_opinion
from persona_store.backup import dailies
from persona_store.doctor import examine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from persona_hooks.ports import Host
    from persona_hooks.verbs import AnyVerb, Call
    from persona_mind.backlog.model import Item
    from persona_mind.backlog.service import Backlog
    from persona_mind.facts.model import Fact, Tier
    from persona_mind.facts.service import Facts
    from persona_mind.kernel.access import Access
    from persona_mind.kernel.scope import Project, Scope
    from persona_mind.meaning.service import Meaning as Comparing
    from persona_mind.quarantine.service import Quarantine
    from persona_store.document import Document, Snapshot
    from persona_store.transaction import Profile

T = TypeVar("T")

MALFORMED: Final = "(malformed)"
"""How whoever keeps the settings marks the source of one that could not be read."""
LOADING: Final = 10.0
"""Seconds for which a report waits for a model that is being loaded."""
NAMES: Final[dict[Tier, str]] = {
    "persona": phrase("long-term"),
    "shared": phrase("shared"),
    "project": phrase("project"),
    "stm": phrase("short-term"),
}


class MindDoctor(NamedTuple):
    """The verb over all of the mind's files.

    Attributes:
        host: What the host lends.
        access: The gate.
        facts: The service.
        backlog: The backlog.
        quarantine: What waits for a person.
        obstacle: Returns why no reminders of a project are shown here, else None.
        meaning: Returns what compares meanings, where the person named a model.
    """

    host: Host
    access: Access
    facts: Facts
    backlog: Backlog
    quarantine: Quarantine
    obstacle: Callable[[Project], str | None]
    meaning: Callable[[], Comparing | None]

    def verbs(self) -> tuple[AnyVerb, ...]:
        """Return it."""
        return (Verb("mind.doctor", Doctor, "read", self.doctor, words.report, PEOPLE, "mind doctor"),)

    def doctor(self, call: Call, _: NoParams) -> Report:
        """Look at everything and touch nothing."""
        scope = self.access.scope(call.session, call.owner)
        settings = self.access.settings(call.session)
        profile = self.facts.files.profile
        tiers, backlog = self.facts.files.documents(scope), self.backlog.files.document(scope.project)
        stores = tuple(_examined(NAMES[tier], document, partial(_unsafe, tier)) for tier, document in tiers)
        stores += (_examined(phrase("backlog"), backlog, self._unsafe),)
        stores += (_examined(phrase("quarantine"), self.quarantine.document, lambda _: 0),)
        documents: list[Document[Any]] = [*(document for _, document in tiers), backlog, self.quarantine.document]
        notable = asking.notable(profile, documents, self.facts.now())
        findings = _findings(profile)
        known = {store.path for store in stores if store.state in {"invalid", "unusable"}}
        obstacle = None if scope.project.home else self._obstacle(scope.project)
        meaning = _meaning(self.meaning())
        return Report(
            root=str(profile.root),
            host=self.host.name,
            enabled=self.access.enabled(call.session),
            capture=settings.capture,
            nudge=settings.nudge,
            settings=dict(settings.sources),
            provider=call.owner.provider,
            persona=scope.persona,
            segment=scope.segment,
            cwd=str(call.session.cwd),
            project=str(scope.project.root),
            slug=scope.project.slug,
            home=scope.project.home,
            stores=stores,
            waiting=self._waiting(scope),
            second_opinion=_second_opinion(),
            meaning=meaning,
            lacking=tuple(
                words.LACKING[name]
                for name, there in self.host.capabilities._asdict().items()
                if name in words.LACKING and not there
            ),
            refused=asking.refused(profile, documents),
            notable=notable,
            warnings=notable
            + tuple(_warning(store) for store in stores if store.state in {"invalid", "unusable"} or store.withheld)
            + tuple(
                f"{found.path}: {found.word}"
                for found in findings
                if found.weight != "note" and str(profile.root / found.path) not in known
            )
            + tuple(_malformed(settings.sources))
            + ((obstacle,) if obstacle else ())
            + ((meaning.trouble,) if meaning and meaning.trouble else ())
            + tuple(
                phrase("plugin {name}: {what}", name=item.name, what=item.detail)
                for item in self.host.state()
                if item.state != "loaded"
            ),
            **_latest_backup(profile),
            findings=findings,
        )

    def _obstacle(self, project: Project) -> str | None:
        try:
            return self.obstacle(project)
        except PersonaError:
            return None  # the backlog is among those that are unusable

    def _waiting(self, scope: Scope) -> int:
        try:
            return len(self.quarantine.waiting(scope))
        except PersonaError:
            return 0  # its store is among those that are unusable

    def _unsafe(self, snapshot: Snapshot[Item]) -> int:
        now = self.backlog.now()
        return sum(bool(judged(item, now).withheld) for item in snapshot.values)


def _findings(profile: Profile) -> tuple[Finding, ...]:
    try:
        found = examine(profile)
    except PersonaError as error:
        return (Finding(word=error.reason, weight="error", path=str(profile.root), advice=error.message),)
    told = [Finding(word=one.word, weight=one.weight, path=one.path, advice=one.advice) for one in found]
    return tuple(
        one.model_copy(update={"advice": phrase("{advice}: `/mind merge`", advice=one.advice)})
        if one.word == "conflict_copy"
        else one
        for one in told
    )


def _latest_backup(profile: Profile) -> dict[str, str | None]:
    try:
        return {"backup": next(reversed(dailies(profile.root)), None)}
    except StorageError as error:
        return {"backups": error.message}


def _second_opinion() -> str:
    found = second_opinion.state()
    return f"{found.word} ({found.reason})" if found.reason else found.word


def _meaning(comparing: Comparing | None) -> Meaning | None:
    if comparing is None:
        return None
    found = comparing.examine(LOADING)
    facts, turns = found.held
    return Meaning(
        model=found.source,
        state=found.state,
        trouble=found.trouble,
        width=found.width,
        facts=facts,
        turns=turns,
        waiting=found.waiting,
        late=found.late,
    )


def _unsafe(tier: Tier, snapshot: Snapshot[Fact]) -> int:
    return sum(bool(shown(held).withheld) for held in rows(tier, snapshot))


def _examined(name: str, document: Document[T], unsafe: Callable[[Snapshot[T]], int]) -> Store:
    path = str(document.path)
    try:
        snapshot = document.read()
    except PersonaError as error:
        return Store(name=name, path=path, state="unusable", detail=error.message)
    damage = snapshot.damage
    if not snapshot.sequence and not snapshot.rows and damage is None:
        return Store(name=name, path=path, state="not created")
    withheld = unsafe(snapshot)
    return Store(
        name=name,
        path=path,
        state="invalid" if snapshot.invalid or damage else "ok",
        entries=len(snapshot.rows),
        unreadable=snapshot.invalid,
        withheld=withheld,
        detail=phrase("{reason}: read from its previous version, the last change may be lost", reason=damage.reason)
        if damage
        else "",
    )


def _malformed(sources: tuple[tuple[str, str], ...]) -> Iterator[str]:
    """Yield a warning for each setting that its keeper could not read, and that is therefore at its most careful."""
    for key, source in sources:
        if source.endswith(MALFORMED):
            yield phrase(
                "{setting} cannot be read and counts as its most careful value: {file}",
                setting=key,
                file=source.removesuffix(MALFORMED).rstrip(),
            )


def _warning(store: Store) -> str:
    if store.withheld and store.state == "ok":
        return phrase(
            "{store}: {number} entries are withheld, their text breaks a rule", store=store.name, number=store.withheld
        )
    if store.state == "invalid":
        return phrase("{store} is invalid; nothing was changed ({path})", store=store.name, path=store.path)
    return phrase("{store} is unusable; nothing was changed ({path})", store=store.name, path=store.path)
