"""The models port: completions for plugins, with the session's exact model or with a model role."""

from __future__ import annotations

from typing import TYPE_CHECKING

from persona_hooks.errors import RefusedError
from persona_hooks.ports import Completed, Completion
from persona_hooks.speech import phrase
from persona_host.embedded.choice import HOW, SESSION, Choice, Roles

if TYPE_CHECKING:
    from collections.abc import Mapping

    from persona_hooks.messages import Setting


class HostModels:
    """What this host can call: one model for the conversation, and the model roles of the settings.

    Plugins call ``complete`` from threads of their own; every call has a connection of its own.
    """

    def __init__(self, environ: Mapping[str, str], asked: str | None = None, source: str = "--model") -> None:
        self._environ = environ
        self._asked = (asked, source)
        self.roles = Roles({})
        self.session: Choice | None = None

    def configure(self, settings: Mapping[str, Setting]) -> None:
        """Take the roles that a session's settings define; what was asked for by name stays.

        Raises:
            InvalidError: The model asked for, or the default role's, is not of the form ``provider:name``.
        """
        self.roles = Roles(settings)
        asked, source = self._asked
        self.session = self.roles.asked(asked, source) if asked else self.roles.choice("default")

    def select(self, asked: str, source: str) -> Choice:
        """Use another model for the conversation from now on, and return it.

        Raises:
            InvalidError: It is neither a model role nor of the form ``provider:name``.
            RefusedError: It is not set up: its key is missing, say. The model stays as it was.
        """
        from persona_host.embedded.agent import require  # noqa: PLC0415 - asyncio; only a real choice needs it

        choice = self.roles.asked(asked, source)
        require(choice, self._environ)
        self._asked, self.session = (asked, source), choice
        return choice

    def complete(self, request: Completion) -> Completed:
        """See ``ports.Models``."""
        from persona_host.embedded.agent import Agent, Ask  # noqa: PLC0415 - asyncio; only a real call needs it
        from persona_host.embedded.transcript import Said  # noqa: PLC0415 - as above

        choice = self.session if request.role == SESSION else self.roles.choice(request.role) or self.session
        if choice is None:
            raise RefusedError(phrase("No model is configured. {how}", how=HOW), reason="no_model")
        agent = Agent(choice, self._environ)
        ask = Ask(
            [Said(request.prompt)],
            request.system,
            max_tokens=request.max_tokens,
            deadline_seconds=request.deadline_seconds,
        )
        try:
            step = agent.step(ask, lambda _: None)
        finally:
            agent.close()
        usage = step.usage
        return Completed(step.reply.text, choice.label, usage.input_tokens, usage.output_tokens)
