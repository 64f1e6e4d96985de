"""The corpus of accepted and rejected messages, which the contract and both plugins are held against."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from persona_hooks import messages, work

if TYPE_CHECKING:
    from persona_hooks.messages import Message

CORPUS = Path(__file__).parents[1] / "corpus" / "messages.json"


@dataclass(frozen=True, slots=True)
class Case:
    """One message as it might come over the bus.

    Attributes:
        kind: The message's class.
        name: What is special about it.
        payload: What comes.
        accepted: Whether it must be taken.
        field: For a rejected one, the field that the refusal must name; None where it does not matter.
    """

    kind: type[Message]
    name: str
    payload: Any
    accepted: bool
    field: str | None = None

    def __str__(self) -> str:
        return f"{self.kind.__name__}: {self.name}"


def cases(kind: type[Message] | None = None, *, accepted: bool | None = None) -> list[Case]:
    """Return the corpus, or its cases of one message, or only those that are accepted or rejected."""
    corpus: dict[Literal["accepted", "rejected"], list[dict[str, Any]]] = json.loads(CORPUS.read_text("utf-8"))
    found = [
        Case(
            (vars(messages) | vars(work))[item["message"]],
            item["case"],
            item["payload"],
            verdict == "accepted",
            item.get("field"),
        )
        for verdict, items in corpus.items()
        for item in items
    ]
    return [
        case
        for case in found
        if (kind is None or case.kind is kind) and (accepted is None or case.accepted is accepted)
    ]
