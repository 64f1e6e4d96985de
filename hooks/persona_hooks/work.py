"""The messages about work on memory: what a person may watch, and workers that a host runs.

They are apart from the others, which every process needs to learn whose memory it is.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from persona_hooks.messages import ACTIVITY, MAIN_SEAT, WORKER, Closed, Id, Message, Name


class Activity(Closed):
    """One step of work on memory that a person may watch. No text, path, model or cost travels here."""

    channel = ACTIVITY
    session_id: Id
    activity_id: Id
    phase: Literal["inspect", "stage", "apply"]
    state: Literal["running", "staged", "done", "refused", "failed", "cancelled"]
    target: Literal["project", "project-long", "persona", "shared"]


class WorkerQuery(Closed):
    """Asks for one hosted worker: the session's exact model, no tools, a deadline.

    Attributes:
        deadline_seconds: After it, the run is cancelled and its late result dropped.
    """

    channel = WORKER
    session_id: Id
    seat: Name = MAIN_SEAT
    run_id: Id
    system: Annotated[str, Field(max_length=65_536)]
    prompt: Annotated[str, Field(max_length=262_144)]
    max_tokens: Annotated[int, Field(gt=0, le=32_768)]
    deadline_seconds: Annotated[float, Field(gt=0, le=600)]


class WorkerReply(Message):
    """Says whether the run was admitted; its result is published as ``WorkerSettled``."""

    channel = WORKER
    provider: Name
    run_id: Id
    accepted: bool
    reason: Annotated[str, Field(max_length=256)] = ""


class WorkerSettled(Closed):
    """The end of a hosted run."""

    channel = WORKER
    session_id: Id
    run_id: Id
    state: Literal["done", "failed", "cancelled", "late"]
    model: Annotated[str, Field(max_length=256)]
    text: Annotated[str, Field(max_length=262_144)] = ""


MESSAGES: tuple[type[Message], ...] = (Activity, WorkerQuery, WorkerReply, WorkerSettled)
