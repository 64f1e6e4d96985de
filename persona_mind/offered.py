"""What the mind offers: its verbs by name and command. Their modules are loaded once one of them is looked at.

A process performs one verb, or none, and ends; the imports inside the functions here are late for its sake. The names
are compared with what comes: see ``Registry.late``.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from persona_hooks.verbs import AnyVerb, Registry
    from persona_mind.services import Services

MEMORY: Final = {
    "memory.remember": "mind remember",
    "memory.recall": "mind recall",
    "memory.read": "mind read",
    "memory.forget": "mind forget",
    "memory.promote": "mind promote",
}
NOTES: Final = {
    "notes.save": "mind note save",
    "notes.list": "mind note list",
    "notes.read": "mind note read",
    "notes.forget": "mind note forget",
}
BACKLOG: Final = {
    "backlog.add": "mind backlog add",
    "backlog.list": "mind backlog",
    "backlog.take": "mind backlog take",
    "backlog.done": "mind backlog done",
    "backlog.drop": "mind backlog drop",
    "backlog.snooze": "mind backlog snooze",
}
SESSIONS: Final = {"sessions.read": "mind session"}
QUARANTINE: Final = {
    "quarantine.list": "mind quarantine",
    "quarantine.show": "mind quarantine show",
    "quarantine.approve": "mind quarantine approve",
    "quarantine.drop": "mind quarantine drop",
}
STATUS: Final = {
    "mind.snapshot": "mind",
    "mind.off": "mind off",
    "mind.on": "mind on",
}
DOCTOR: Final = {"mind.doctor": "mind doctor"}
ARCHIVE: Final = {"archive.export": "mind export", "archive.import": "mind import"}
MIGRATION: Final = {"mind.migrate_persona": "mind migrate-persona"}
SAFEKEEPING: Final = {
    "memory.erase": "mind erase",
    "profile.backup": "mind backup",
    "profile.backups": "mind backups",
    "profile.restore": "mind restore",
    "profile.merge": "mind merge",
}
WHY: Final = {"mind.why": "mind why"}


def offer(services: Services, registry: Registry) -> None:
    """Register every verb of the mind."""
    offered: tuple[tuple[Mapping[str, str], Callable[[Services, Registry], None]], ...] = (
        (MEMORY, _memory),
        (NOTES, _notes),
        (BACKLOG, _backlog),
        (SESSIONS, _sessions),
        (QUARANTINE, _quarantine),
        (STATUS, _status),
        (DOCTOR, _doctor),
        (ARCHIVE, _archive),
        (MIGRATION, _migration),
        (SAFEKEEPING, _safekeeping),
        (WHY, _why),
    )
    for commands, load in offered:
        registry.late(commands, partial(load, services))


def _memory(services: Services, registry: Registry) -> None:
    from persona_mind.facts.verbs import GUIDE, MemoryVerbs  # noqa: PLC0415 - see the module's docstring
    from persona_mind.sessions.verbs import SessionVerbs  # noqa: PLC0415 - see the module's docstring

    past = SessionVerbs(services.access, services.sessions).recall
    verbs = MemoryVerbs(services.access, services.facts, services.views, services.notice, past, services.noticed)
    _reviewed(services, registry, verbs.verbs())
    registry.guide("memory", GUIDE)


def _notes(services: Services, registry: Registry) -> None:
    from persona_mind.notes.verbs import GUIDE, NoteVerbs  # noqa: PLC0415 - see the module's docstring

    _reviewed(services, registry, NoteVerbs(services.access, services.notes).verbs())
    registry.guide("notes", GUIDE)


def _backlog(services: Services, registry: Registry) -> None:
    from persona_mind.backlog.verbs import GUIDE, BacklogVerbs  # noqa: PLC0415 - see the module's docstring

    verbs = BacklogVerbs(services.access, services.backlog, services.notice, services.deferred)
    _reviewed(services, registry, verbs.verbs())
    registry.guide("backlog", GUIDE)


def _sessions(services: Services, registry: Registry) -> None:
    from persona_mind.sessions.verbs import GUIDE, SessionVerbs  # noqa: PLC0415 - see the module's docstring

    _reviewed(services, registry, SessionVerbs(services.access, services.sessions).verbs())
    registry.guide("sessions", GUIDE)


def _quarantine(services: Services, registry: Registry) -> None:
    from persona_mind.quarantine.verbs import QuarantineVerbs  # noqa: PLC0415 - see the module's docstring

    verbs = QuarantineVerbs(services.access, services.quarantine, services.host.verbs)
    _reviewed(services, registry, verbs.verbs())


def _status(services: Services, registry: Registry) -> None:
    from persona_mind.status.verbs import MindVerbs  # noqa: PLC0415 - see the module's docstring

    counted = services.facts, services.views, services.backlog, services.quarantine
    verbs = MindVerbs(services.access, *counted, preview=services.preview, notice=services.notice)
    _reviewed(services, registry, verbs.verbs())


def _doctor(services: Services, registry: Registry) -> None:
    from persona_mind.health.verbs import MindDoctor  # noqa: PLC0415 - see the module's docstring

    examined = services.facts, services.backlog, services.quarantine
    verbs = MindDoctor(services.host, services.access, *examined, obstacle=services.obstacle, meaning=services.meaning)
    _reviewed(services, registry, verbs.verbs())


def _archive(services: Services, registry: Registry) -> None:
    from persona_mind.archive.verbs import ArchiveVerbs  # noqa: PLC0415 - see the module's docstring

    held = services.facts, services.backlog, services.notes
    _reviewed(services, registry, ArchiveVerbs(services.host, services.access, *held, services.deferred).verbs())


def _migration(services: Services, registry: Registry) -> None:
    from persona_mind.migration.verbs import MigrationVerbs  # noqa: PLC0415 - see the module's docstring

    held = services.facts, services.backlog
    _reviewed(services, registry, MigrationVerbs(services.access, services.moving, *held, services.deferred).verbs())


def _safekeeping(services: Services, registry: Registry) -> None:
    from persona_mind.migration.layouts import ROOT  # noqa: PLC0415 - see the module's docstring
    from persona_mind.safekeeping.elsewhere import claude_transcripts  # noqa: PLC0415 - see the module's docstring
    from persona_mind.safekeeping.naming import Naming  # noqa: PLC0415 - see the module's docstring
    from persona_mind.safekeeping.verbs import SafekeepingVerbs  # noqa: PLC0415 - see the module's docstring

    host = services.host
    verbs = SafekeepingVerbs(
        host,
        services.access,
        Naming(services.facts, services.backlog, services.notes, services.quarantine),
        services.erasing,
        services.shelf,
        services.notes,
        outside=lambda: [
            *services.sessions.transcripts,
            host.agent_dir / ROOT,
            *claude_transcripts(host.agent_dir, host.home, host.environ),
        ],
        changed=services.deferred,
    )
    _reviewed(services, registry, verbs.verbs())


def _why(services: Services, registry: Registry) -> None:
    from persona_mind.recorder.verbs import WhyVerbs  # noqa: PLC0415 - see the module's docstring
    from persona_mind.status.described import Describing  # noqa: PLC0415 - see the module's docstring

    describing = Describing(services.facts, services.backlog, services.notes)
    _reviewed(services, registry, WhyVerbs(services.access, services.recorder, describing).verbs())


def _reviewed(services: Services, registry: Registry, verbs: tuple[AnyVerb, ...]) -> None:
    """Register verbs: what one refuses for want of consent waits for a person, and what it changed is counted."""
    from persona_mind.kernel.admitting import reviewed  # noqa: PLC0415 - see the module's docstring
    from persona_mind.quarantine.holding import Holding  # noqa: PLC0415 - see the module's docstring

    holding = Holding(services.access, services.quarantine, services.host.name)
    offered, changed = services.access.enabled, services.count
    registry.add(*(reviewed(verb, holding, offered=offered, changed=changed) for verb in verbs))
