"""The outcome of ``mind doctor``. It carries no text of a memory."""

from __future__ import annotations

from typing import Literal

from persona_hooks.verbs import Outcome, Sentence


class Store(Outcome):
    """How one file fares.

    Attributes:
        state: ``not created``, ``ok``, ``invalid`` (some rows cannot be read and are kept) or ``unusable``.
        entries: How many rows it holds.
        unreadable: How many of them cannot be read.
        withheld: How many hold a text that breaks a rule now.
        detail: What is wrong, in one line.
    """

    name: Sentence
    path: str
    state: Literal["not created", "ok", "invalid", "unusable"]
    entries: int = 0
    unreadable: int = 0
    withheld: int = 0
    detail: Sentence = ""


class Finding(Outcome):
    """One thing that safekeeping found, or put right before.

    Attributes:
        word: What, stable for programs.
        weight: ``note`` needs nobody, ``warning`` and ``error`` do.
        path: Below the profile's root where it can be.
        advice: What to do.
    """

    word: str
    weight: Literal["note", "warning", "error"]
    path: str
    advice: Sentence


class Meaning(Outcome):
    """How comparing meanings fares.

    Attributes:
        model: What the setting names.
        state: ``ready``, ``starting`` (it is still being loaded) or ``failed``.
        trouble: What is wrong, and what to do.
        width: How many numbers a vector has.
        facts: How many facts have a vector in the cache.
        turns: How many turns of past conversations have one.
        waiting: How many texts are still to be read.
        late: How many questions of this process were answered by words alone, since their vectors took too long.
    """

    model: str
    state: str
    trouble: Sentence = ""
    width: int = 0
    facts: int = 0
    turns: int = 0
    waiting: int = 0
    late: int = 0


class Report(Outcome):
    """How the mind fares.

    Attributes:
        waiting: Calls in quarantine that wait for a person.
        second_opinion: Whether the extra ``classifier`` judges what strangers bring: ``absent``, ``ready``, or
            ``failed`` with the error's type.
        meaning: How comparing meanings fares; None where no model is set.
        lacking: What the host lacks, each with what it costs.
        warnings: What needs a look.
        refused: Why memory cannot be read or changed, and what to do; empty where it can.
        notable: Those of the warnings that a person would not learn of otherwise.
        backup: The name of the latest backup inside the profile; None where there is none.
        backups: Why the backups cannot be looked at; empty where they can.
        findings: What safekeeping found over the whole profile.
    """

    root: str
    host: str
    enabled: bool
    capture: str
    nudge: bool
    settings: dict[str, str]
    provider: str
    persona: str | None
    segment: str
    cwd: str
    project: str
    slug: str
    home: bool
    stores: tuple[Store, ...]
    waiting: int
    second_opinion: str
    meaning: Meaning | None = None
    lacking: tuple[Sentence, ...]
    warnings: tuple[Sentence, ...]
    refused: Sentence = ""
    notable: tuple[Sentence, ...] = ()
    backup: str | None = None
    backups: Sentence = ""
    findings: tuple[Finding, ...] = ()
