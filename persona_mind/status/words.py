"""The words of the ``mind`` verbs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from persona_hooks.cards import Card
from persona_hooks.speech import say
from persona_mind.kernel.compared import VECTORS
from persona_mind.kernel.settings import ENABLED

if TYPE_CHECKING:
    from pathlib import Path

    from persona_mind.health.outcomes import Meaning, Report, Store
    from persona_mind.status.outcomes import Overview, Switched

_FENCE: Final = re.compile(r"</?persona-mind-[0-9a-f]+[ >]|$")

LACKING: Final = {
    "journal": "the session log takes no entries: notes, cards and the switch do not last",
    "branches": "the session log has no branches: notes follow the whole session",
    "ui": "nobody can be shown a notice: cards stand in the log only",
    "models": "no model can be asked: reviews are done by hand",
    "tools": "the model cannot call memory: it is used by command only",
    "injection": "nothing reaches the model's request: recall by command or tool",
    "scheduler": "no timers: reminders show at the next turn",
}


_EXTRA: Final = {"absent": "; the extra `classifier` adds one", "ready": ""}


def first_run(root: Path) -> str:
    """Return what a person is told before anything was ever stored."""
    return (
        f"Memory is stored in {root}. Selected lines go to the model you configure; nothing else leaves this machine. "
        "`/mind off` stops it."
    )


def overview(outcome: Overview) -> Card:
    """Show counts, then what the model is given, without the fence that is meant for models only."""
    who = outcome.persona or "no persona"
    project = " · home is no project" if outcome.home else f" · project {outcome.project} · working {outcome.working}"
    project += "" if outcome.home else f" · backlog {outcome.backlog}"
    return Card(
        title=f"Mind of {who}: long-term {outcome.long}{project}",
        body=tuple(line for line in outcome.block.split("\n") if not _FENCE.match(line)) or ("(empty)",),
        hint=" ".join(text for text in (_waiting(outcome.waiting), outcome.notice or _listed(outcome)) if text),
    )


def _listed(outcome: Overview) -> str:
    return "`/mind recall` lists facts with their ids." if outcome.block else ""


def report(outcome: Report) -> Card:
    """Say how the mind fares, one line a matter."""
    home = " (home: no project; nothing of a project is injected here)" if outcome.home else ""
    capture = dict(outcome.settings).get("mind.capture", "default")
    lines = [
        f"memory: {outcome.root}",
        f"host: {outcome.host}",
        f"this session: {'on' if outcome.enabled else 'off'}; lasting setting: {ENABLED}",
        f"owner: {outcome.persona or 'no persona'} ({outcome.segment}), named by {outcome.provider}",
        f"cwd: {outcome.cwd}",
        f"project: {outcome.project}{home}",
        f"project files: {outcome.slug}",
        (
            f"capture: {outcome.capture} ({capture}); PI_PERSONA_MIND_CAPTURE overrides; "
            f"hints {'on' if outcome.nudge else 'off'}"
        ),
        *(_store(store) for store in outcome.stores),
        f"waiting for a person: {outcome.waiting} (`/mind quarantine`)",
        f"second opinion on what strangers bring: {outcome.second_opinion}{_EXTRA.get(outcome.second_opinion, '')}",
        f"comparing meanings: {_meaning(outcome.meaning)}",
        f"latest daily backup: {outcome.backup or 'none yet'} (`/mind backups`)",
        *(f"safekeeping, {found.weight}: {found.path}: {found.word}: {found.advice}" for found in outcome.findings),
        *(f"lacking: {item}" for item in outcome.lacking),
        *(f"warning: {item}" for item in outcome.warnings),
    ]
    if not outcome.warnings:
        lines.append("warnings: none")
    number = len(outcome.warnings)
    title = "Mind: healthy" if not number else f"Mind: {number} warning{'s' if number > 1 else ''}"
    return Card(title=title, body=tuple(lines), level="warning" if number else "success")


def _meaning(found: Meaning | None) -> str:
    if found is None:
        return say("off; {setting} in persona/settings.json names an embedding model", setting=f"`{VECTORS}`")
    if found.state != "ready":
        return f"{found.state} ({found.model})"
    return say(
        "{model}, {width} numbers a vector; read {facts} facts and {turns} turns, {waiting} to be read, {late} late",
        model=found.model,
        width=found.width,
        facts=found.facts,
        turns=found.turns,
        waiting=found.waiting,
        late=found.late,
    )


def switched(outcome: Switched) -> Card:
    """Say what the switch stands on, for how long, and how to make it last."""
    state, other = ("on", "off") if outcome.enabled else ("off", "on")
    did = "is" if outcome.changed == "yes" else "was already"
    rest = "" if outcome.enabled else " Nothing is captured, injected, read or written."
    lasting = f"`{ENABLED}` in persona/settings.json is the lasting setting."
    if outcome.shared:
        where = "for commands in this directory"
        held = f"It holds for all of them without --session, and not for conversations, until `/mind {other}`."
    else:
        where, held = "in this session", "It holds for this session."
    kept = () if outcome.durable else ("This session's log is not in a file yet, so a restart forgets the switch.",)
    return Card(f"Memory {did} {state} {where}.{rest}", detail=kept, hint=f"{held} {lasting}", level="success")


def _waiting(number: int) -> str:
    if not number:
        return ""
    return f"{'1 call waits' if number == 1 else f'{number} calls wait'} for you: `/mind quarantine`."


def _store(store: Store) -> str:
    parts = [f"{store.entries} entries"] if store.state != "not created" else []
    parts += [f"{store.unreadable} unreadable, kept as they are"] if store.unreadable else []
    parts += [f"{store.withheld} withheld"] if store.withheld else []
    parts += [store.detail] if store.detail else []
    told = f" ({', '.join(parts)})" if parts else ""
    return f"{store.name}: {store.state}{told} — {store.path}"
