"""The words of the ``mind`` verbs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from persona_hooks.cards import Card
from persona_hooks.speech import marked, phrase, say, say_n, worded
from persona_mind.kernel.compared import VECTORS
from persona_mind.kernel.settings import ENABLED
from persona_mind.kernel.wording import lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from persona_mind.health.outcomes import Meaning, Report, Store
    from persona_mind.status.outcomes import Overview, Switched

_FENCE: Final = re.compile(r"</?persona-mind-[0-9a-f]+[ >]|$")

LACKING: Final = {
    "journal": phrase("the session log takes no entries: notes, cards and the switch do not last"),
    "branches": phrase("the session log has no branches: notes follow the whole session"),
    "ui": phrase("nobody can be shown a notice: cards stand in the log only"),
    "models": phrase("no model can be asked: reviews are done by hand"),
    "tools": phrase("the model cannot call memory: it is used by command only"),
    "injection": phrase("nothing reaches the model's request: recall by command or tool"),
    "scheduler": phrase("no timers: reminders show at the next turn"),
    "input": phrase("what is said is not seen: strong cues are not captured"),
    "commands": phrase("no commands: `persona mind` in a shell"),
}


_STATES: Final = {
    "not created": phrase("not created"),
    "ok": phrase("ok"),
    "invalid": phrase("invalid"),
    "unusable": phrase("unusable"),
}
_WEIGHTS: Final = {"note": phrase("note"), "warning": phrase("warning"), "error": phrase("error")}


def first_run(root: Path) -> str:
    """Return what a person is told before anything was ever stored, as a phrase."""
    return phrase(
        "Memory is stored in {root}. Selected lines go to the model you configure; nothing else leaves this machine. "
        "`/mind off` stops it.",
        root=root,
    )


def overview(outcome: Overview) -> Card:
    """Show counts, then what the model is given, without the fence that is meant for models only."""
    who = outcome.persona or phrase("no persona")
    title = say("Mind of {who}: long-term {long} · home is no project", who=who, long=outcome.long)
    if not outcome.home:
        title = say(
            "Mind of {who}: long-term {long} · project {project} · working {working} · backlog {backlog}",
            who=who,
            long=outcome.long,
            project=outcome.project,
            working=outcome.working,
            backlog=outcome.backlog,
        )
    notice = worded(outcome.notice or "") or _listed(outcome)
    return Card(
        title=title,
        body=tuple(line for line in outcome.block.split("\n") if not _FENCE.match(line)) or (say("(empty)"),),
        hint=" ".join(lines(_waiting(outcome.waiting), notice)),
    )


def _listed(outcome: Overview) -> str:
    return say("`/mind recall` lists facts with their ids.") if outcome.block else ""


def report(outcome: Report) -> Card:
    """Say how the mind fares, one line a matter."""
    told = [
        *_place(outcome),
        *(_store(store) for store in outcome.stores),
        say("waiting for a person: {number} (`/mind quarantine`)", number=outcome.waiting),
        _opinion(outcome.second_opinion),
        say("comparing meanings: {state}", state=_meaning(outcome.meaning)),
        _backup(outcome),
        *(
            say(
                "safekeeping, {weight}: {path}: {word}: {advice}",
                weight=_WEIGHTS[found.weight],
                path=found.path,
                word=found.word,
                advice=found.advice,
            )
            for found in outcome.findings
        ),
        *(say("lacking: {what}", what=item) for item in outcome.lacking),
        *(say("warning: {what}", what=item) for item in outcome.warnings),
    ]
    number = len(outcome.warnings)
    if outcome.refused:
        return Card(title=say("Mind: refused: {what}", what=outcome.refused), body=tuple(told), level="error")
    if not number:
        return Card(title=say("Mind: healthy"), body=(*told, say("warnings: none")), level="success")
    return Card(
        title=say_n("Mind: {number} warning", "Mind: {number} warnings", number), body=tuple(told), level="warning"
    )


def _backup(outcome: Report) -> str:
    if outcome.backups:
        return say("latest daily backup: unknown ({why})", why=outcome.backups)
    return say("latest daily backup: {name} (`/mind backups`)", name=outcome.backup or phrase("none yet"))


def _place(outcome: Report) -> Iterator[str]:
    yield say("memory: {root}", root=outcome.root)
    yield say("host: {name}", name=outcome.host)
    switch = _switch(on=outcome.enabled)
    yield say("this session: {switch}; lasting setting: {setting}", switch=switch, setting=ENABLED)
    who = outcome.persona or phrase("no persona")
    yield say(
        "owner: {who} ({segment}), named by {provider}", who=who, segment=outcome.segment, provider=outcome.provider
    )
    yield say("cwd: {path}", path=outcome.cwd)
    home = say("(home: no project; nothing of a project is injected here)")
    project = say("project: {path}", path=outcome.project)
    yield f"{project} {home}" if outcome.home else project
    yield say("project files: {name}", name=outcome.slug)
    source = dict(outcome.settings).get("mind.capture", "default")
    yield say(
        "capture: {mode} ({source}); PI_PERSONA_MIND_CAPTURE overrides; hints {switch}",
        mode=outcome.capture,
        source=phrase("default") if source == "default" else source,
        switch=_switch(on=outcome.nudge),
    )


def _switch(*, on: bool) -> str:
    return phrase("on") if on else phrase("off")


def _opinion(state: str) -> str:
    if state == "absent":
        return say("second opinion on what strangers bring: absent; the extra `classifier` adds one")
    if state == "ready":
        return say("second opinion on what strangers bring: ready")
    return say("second opinion on what strangers bring: {state}", state=state)


def _meaning(found: Meaning | None) -> str:
    if found is None:
        return say("off; `{setting}` in persona/settings.json names an embedding model", setting=VECTORS)
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
    lasting = say("`{setting}` in persona/settings.json is the lasting setting.", setting=ENABLED)
    if not outcome.shared:
        held = say("It holds for this session.")
    elif outcome.enabled:
        held = say("It holds for all of them without --session, and not for conversations, until `/mind off`.")
    else:
        held = say("It holds for all of them without --session, and not for conversations, until `/mind on`.")
    kept = say("This session's log is not in a file yet, so a restart forgets the switch.")
    return Card(
        " ".join(
            lines(
                say(_NOW[outcome.changed == "yes", outcome.enabled, outcome.shared]),
                "" if outcome.enabled else say("Nothing is captured, injected, read or written."),
            )
        ),
        detail=() if outcome.durable else (kept,),
        hint=f"{held} {lasting}",
        level="success",
    )


_NOW: Final = {
    (True, True, True): marked("Memory is on for commands in this directory."),
    (True, True, False): marked("Memory is on in this session."),
    (True, False, True): marked("Memory is off for commands in this directory."),
    (True, False, False): marked("Memory is off in this session."),
    (False, True, True): marked("Memory was already on for commands in this directory."),
    (False, True, False): marked("Memory was already on in this session."),
    (False, False, True): marked("Memory was already off for commands in this directory."),
    (False, False, False): marked("Memory was already off in this session."),
}
"""What is said of the switch: whether it was turned, whether it is on, whether commands share it."""


def _waiting(number: int) -> str:
    if not number:
        return ""
    return say_n(
        "{number} call waits for you: `/mind quarantine`.", "{number} calls wait for you: `/mind quarantine`.", number
    )


def _store(store: Store) -> str:
    created = store.state != "not created"
    parts = lines(
        say_n("{number} entry", "{number} entries", store.entries) if created else "",
        say("{number} unreadable, kept as they are", number=store.unreadable) if store.unreadable else "",
        say("{number} withheld", number=store.withheld) if store.withheld else "",
        worded(store.detail),
    )
    told = f" ({', '.join(parts)})" if parts else ""
    return f"{worded(store.name)}: {worded(_STATES[store.state])}{told} — {store.path}"
