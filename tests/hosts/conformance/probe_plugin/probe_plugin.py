"""A plugin that asks the host for a model, as any plugin may; it is installed beside the shipped ones by its path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from persona_hooks import hookimpl
from persona_hooks.cards import Card
from persona_hooks.ports import Completion, Host
from persona_hooks.verbs import EVERYONE, Call, Outcome, Params, Place, Registry, Verb

if TYPE_CHECKING:
    from persona_hooks.ports import Models


class Ask(Params):
    """Ask the session's model, for at most so many seconds."""

    text: Annotated[str, Place.REST]
    seconds: float = 20.0


class Asked(Outcome):
    """What it said, and which model it was."""

    said: str = ""
    model: str = ""


class Probe:
    """One verb over the models port."""

    def __init__(self, host: Host) -> None:
        self._models: Models = host.models

    @hookimpl
    def register_verbs(self, registry: Registry) -> None:
        """Offer it to everyone."""
        words = lambda outcome: Card(f"{outcome.model}: {outcome.said}")  # noqa: E731 - one verb's words
        registry.add(Verb("probe.ask", Ask, "read", self._ask, words, EVERYONE, "probe ask"))

    def _ask(self, call: Call, params: Ask) -> Asked:
        del call
        request = Completion("Be brief.", params.text, max_tokens=16, deadline_seconds=params.seconds)
        done = self._models.complete(request)
        return Asked(said=done.text, model=done.model)
