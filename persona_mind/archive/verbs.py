"""The ``archive`` verbs: for people and scripts, never for a model."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import InvalidError, PersonaError, RefusedError
from persona_hooks.speech import phrase, say
from persona_hooks.verbs import Verb
from persona_mind.archive import words
from persona_mind.archive.params import Export, Import
from persona_mind.kernel.paths import named_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from persona_hooks.ports import Host, Session
    from persona_hooks.verbs import Answer, AnyVerb, Audience, Call
    from persona_mind.archive.importing import Source
    from persona_mind.archive.outcomes import Exported, Imported, SourceReport
    from persona_mind.backlog.service import Backlog
    from persona_mind.facts.service import Facts
    from persona_mind.kernel.access import Access, Permit
    from persona_mind.kernel.intake import Intake
    from persona_mind.kernel.parts import Part
    from persona_mind.kernel.scope import Scope
    from persona_mind.notes.service import Notes

PROGRESS: Final = "import"
"""The key of the status line that says how far an import is: ``37% of 1200``."""
ASKED: Final[frozenset[Audience]] = frozenset({"person", "script"})


@dataclass(frozen=True, slots=True)
class ArchiveVerbs:
    """The verbs over archives and other programs' exports.

    Attributes:
        host: Its person's home, its status line, and the verbs that hold what needs a person.
        access: The gate that every call passes.
        facts: A faculty that has a part in archives, and where memories of other programs go.
        backlog: A faculty that has a part in archives.
        notes: A faculty that has a part in archives.
        changed: Told once something came in.
    """

    host: Host
    access: Access
    facts: Facts
    backlog: Backlog
    notes: Notes
    changed: Callable[[Session], None]

    def verbs(self) -> tuple[AnyVerb, ...]:
        """Return them all."""
        return (
            Verb("archive.import", Import, "write", self.take_in, words.imported, ASKED, "mind import"),
            Verb("archive.export", Export, "write", self.put_out, words.exported, ASKED, "mind export"),
        )

    def take_in(self, call: Call, params: Import) -> Imported:
        """Read everything, judge every entry, write what may come in."""
        scope, permit = self.access.enter(call)
        _require_person(call)
        path = named_path(call, self.host.home, params.path)
        # Reading other programs' files is for those who move in.
        from persona_mind.archive.importing import Importer, Wish  # noqa: PLC0415
        from persona_mind.archive.tree import read_tree  # noqa: PLC0415 - as above

        if params.scope == "project" and scope.project.home:
            raise RefusedError(
                phrase("Home is no project: name `persona` or `shared`."), reason="no_project", field="scope"
            )
        _require_no_backup(path)
        wish = Wish(params.format, params.scope, params.adopt)
        progress = _Progress(self.host)
        intake = self._intake(call, scope, permit, progress, rehearse=params.dry_run)
        importer = Importer(self.facts.files, self._parts(), intake, self.facts.now())
        plan = importer.plan(read_tree(path), wish)
        progress.total = plan.total
        try:
            sources = importer.take(plan, wish)
        finally:
            progress.end()
        outcome = _outcome(sources, plan.ignored, rehearsed=params.dry_run)
        if outcome.changed == "yes":
            self.changed(call.session)
        return outcome

    def put_out(self, call: Call, params: Export) -> Exported:
        """Write an archive of what the owner sees, or of everything."""
        scope, permit = self.access.enter(call)
        _require_person(call)
        name = params.path or f"persona-mind-{self.facts.now().date().isoformat()}.zip"
        path = named_path(call, self.host.home, name)
        # Writing archives is for those who move out.
        from persona_mind.archive.exporting import archive_of  # noqa: PLC0415
        from persona_mind.archive.outcomes import Exported  # noqa: PLC0415 - as above
        from persona_mind.kernel.parts import Extent  # noqa: PLC0415 - as above
        from persona_store.publish import publish  # noqa: PLC0415 - as above

        data, entries = archive_of(self._parts(), Extent(call.session, scope, params.all_personas))
        permit()
        publish(path, data, replace=params.force)
        return Exported(changed="yes", path=str(path), bytes=len(data), entries=entries, everything=params.all_personas)

    def _parts(self) -> Sequence[Part]:
        """Return every faculty's part, in the order in which they are put in and taken out."""
        from persona_mind.backlog.archived import BacklogPart  # noqa: PLC0415 - as in take_in
        from persona_mind.facts.archived import FactsPart  # noqa: PLC0415 - as in take_in
        from persona_mind.notes.archived import NotesPart  # noqa: PLC0415 - as in take_in

        return FactsPart(self.facts.files), BacklogPart(self.backlog), NotesPart(self.notes)

    def _intake(self, call: Call, scope: Scope, permit: Permit, progress: _Progress, *, rehearse: bool) -> Intake:
        from persona_mind.kernel.erased import Erased  # noqa: PLC0415 - as in take_in
        from persona_mind.kernel.intake import ORIGIN, Intake, Tally  # noqa: PLC0415 - as in take_in

        def perform(verb: str, arguments: Mapping[str, Any]) -> Answer:
            return self.host.verbs.call(verb, arguments, session=call.session, origin=ORIGIN, audience=call.audience)

        erased = Erased(self.facts.files.profile)
        return Intake(scope, permit, erased, perform, Tally(), progress.step, rehearse=rehearse)


class _Progress:
    """Says in the status line how far an import is, at most a hundred times."""

    def __init__(self, host: Host) -> None:
        self.total = 0
        self._ui = host.ui
        self._done = 0
        self._told = -1

    def step(self) -> None:
        """Count one entry."""
        self._done += 1
        percent = min(self._done * 100 // max(self.total, 1), 100)
        if percent != self._told:
            self._told = percent
            self._ui.status(PROGRESS, say("{percent}% of {total}", percent=percent, total=self.total))

    def end(self) -> None:
        """Clear the status line."""
        if self._told >= 0:
            self._ui.status(PROGRESS, None)


def _require_person(call: Call) -> None:
    if call.origin != "user":
        raise RefusedError(phrase("Only a person moves memories in or out."), reason="not_a_person")


def _require_no_backup(path: Path) -> None:
    """Refuse a backup of ours, which holds documents as they lie, and comes back as a whole."""
    from persona_mind.archive.tree import told  # noqa: PLC0415 - as in take_in
    from persona_store import backup_contents  # noqa: PLC0415 - as in take_in

    if not os.path.isdir(path):  # noqa: PTH112 - it never raises
        return
    try:
        backup_contents.made(path)
    except PersonaError:
        return
    raise InvalidError(
        phrase("{path}: this is a backup; `persona restore DIR` brings it back.", path=told(path)),
        reason="is_backup",
        field="path",
    )


def _outcome(sources: Sequence[Source], ignored: int, *, rehearsed: bool) -> Imported:
    from persona_mind.archive.outcomes import Imported  # noqa: PLC0415 - as in take_in

    reports = tuple(_report(number, source) for number, source in enumerate(sources, 1))
    names = ("added", "renewed", "known", "refused", "quarantined", "failed", "skipped")
    sums = {name: sum(getattr(report, name) for report in reports) for name in names}
    wrote = not rehearsed and bool(sums["added"] or sums["renewed"])
    return Imported(changed="yes" if wrote else "no", rehearsed=rehearsed, ignored=ignored, sources=reports, **sums)


def _report(number: int, source: Source) -> SourceReport:
    from persona_mind.archive.outcomes import SourceReport, Trouble  # noqa: PLC0415 - as in take_in

    tally = source.tally
    return SourceReport(
        name=_name(number, source.name),
        format=source.format,
        found=tally.found,
        added=tally.added,
        renewed=tally.renewed,
        known=tally.known,
        refused=tally.refused,
        quarantined=tally.quarantined,
        failed=tally.failed,
        skipped=tally.skipped,
        problems=tuple(Trouble(where=one.where, what=one.what) for one in tally.problems),
    )


def _name(number: int, name: str) -> str:
    """Return a file's name as it may be told; one that breaks a rule is told by its number."""
    from persona_store.admission import Admitted, admit  # noqa: PLC0415 - the scanner takes a while to load

    return name if isinstance(admit(name, "import"), Admitted) else f"file {number}"
