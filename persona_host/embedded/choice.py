"""Which model: what the command line asks for, else the model roles that plugins report as settings.

A model is named ``provider:name``. Settings reach the host over the bus only (``models.<role>.model``,
``models.<role>.baseUrl``, ``models.<role>.apiKeyEnv``); an unknown model role means the default one. A key itself is
never read here: a choice holds the name of the variable that has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from persona_hooks.errors import InvalidError
from persona_hooks.speech import phrase

if TYPE_CHECKING:
    from collections.abc import Mapping

    from persona_hooks.messages import Setting

DEFAULT = "default"
SESSION = "session"
HOW = phrase(
    "Name one for this conversation with --model openai:NAME or /model openai:NAME, with its key in OPENAI_API_KEY; or "
    "for good in persona/settings.json of the agent directory, here one that runs on this machine: {example}.",
    example='{"models": {"default": {"model": "openai:NAME", "baseUrl": "http://localhost:11434/v1"}}}',
)


class Choice(NamedTuple):
    """A model that can be called.

    Attributes:
        provider: ``openai``, ``anthropic``, … as pydantic-ai names them.
        name: The model's name at that provider.
        base_url: Where an OpenAI-compatible server listens; empty for the provider's own address.
        key_variable: The environment variable that holds the key; empty for the provider's usual one.
        source: Where the choice comes from, as ``doctor`` prints it.
    """

    provider: str
    name: str
    base_url: str = ""
    key_variable: str = ""
    source: str = ""

    @property
    def label(self) -> str:
        """``provider:name``."""
        return f"{self.provider}:{self.name}"

    @property
    def local(self) -> bool:
        """Whether it is served on this machine."""
        host = urlsplit(self.base_url).hostname or ""
        return host == "localhost" or host.startswith("127.") or host == "::1"


class Roles:
    """The model roles that settings define."""

    def __init__(self, settings: Mapping[str, Setting]) -> None:
        self._settings = settings

    def names(self) -> list[str]:
        """Return the roles for which a model is set, sorted."""
        parts = [key.split(".") for key in self._settings if key.startswith("models.")]
        named = {part[1] for part in parts if len(part) == 3 and part[2] == "model"}
        return sorted(role for role in named if self._value(role, "model"))

    def choice(self, role: str) -> Choice | None:
        """Return the model of ``role``, of the default role where that has none, or None."""
        known = role if self._value(role, "model") else DEFAULT
        text = self._value(known, "model")
        if not text:
            return None
        provider, name = parse(text, field=f"models.{known}.model")
        source = self._settings[f"models.{known}.model"].source
        return Choice(provider, name, self._value(known, "baseUrl"), self._value(known, "apiKeyEnv"), source)

    def asked(self, text: str, source: str) -> Choice:
        """Return the model that a person names: a role, or ``provider:name``.

        Address and key variable are taken over from the first role of the same provider, since a person who names
        another model of a server that is set up means that server.

        Raises:
            InvalidError: It is neither.
        """
        if ":" not in text and text in self.names():
            choice = self.choice(text)
            if choice is not None:
                return choice
        provider, name = parse(text, field="model")
        for role in sorted(self.names(), key=lambda role: (role != DEFAULT, role)):
            known = self.choice(role)
            if known is not None and known.provider == provider:
                return Choice(provider, name, known.base_url, known.key_variable, source)
        return Choice(provider, name, source=source)

    def _value(self, role: str, part: str) -> str:
        setting = self._settings.get(f"models.{role}.{part}")
        return setting.value if setting is not None and isinstance(setting.value, str) else ""


def parse(text: str, *, field: str) -> tuple[str, str]:
    """Return provider and name of ``provider:name``.

    Raises:
        InvalidError: It is not of that form; ``field`` names where it stands.
    """
    provider, colon, name = text.strip().partition(":")
    if not (colon and provider and name) or any(char.isspace() for char in provider + name):
        raise InvalidError(
            phrase("{field}: a model is named provider:name, for example openai:gpt-5-mini.", field=field), field=field
        )
    return provider, name


def facts(choice: Choice | None) -> dict[str, Any]:
    """Return what may be told about a choice, as JSON values."""
    if choice is None:
        return {"model": None}
    return {
        "model": choice.label,
        "baseUrl": choice.base_url,
        "keyVariable": choice.key_variable,
        "source": choice.source,
    }
