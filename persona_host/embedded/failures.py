"""What a model request failed of, in words for the person who waits for the reply."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from persona_hooks.cards import clip, one_line
from persona_hooks.errors import BusyError, PersonaError, RefusedError, StorageError
from persona_hooks.speech import phrase

if TYPE_CHECKING:
    from persona_host.embedded.choice import Choice

QUOTED = 200
"""Columns of a server's own message that are shown."""
_TELLING = 12
"""Characters of a line of the request that, found in a server's message, make it a quotation."""


def translated(  # noqa: PLR0911 - one return an error
    error: Exception, choice: Choice, *, begun: bool, private: Iterable[str]
) -> PersonaError | None:
    """Return our error for pydantic-ai's, or None for what is neither its nor the network's.

    Args:
        error: What was raised.
        choice: The model that was asked.
        begun: Whether a part of the reply had come.
        private: Texts that the server was sent, and the key: its message is left out where it quotes one.
    """
    from pydantic_ai import exceptions as theirs  # noqa: PLC0415 - heavy; only a real call needs it

    model = choice.label
    status = getattr(error, "status_code", None)
    code = f" (HTTP {status})" if isinstance(status, int) else ""
    match error:
        case theirs.ModelAuthenticationError():
            variable = choice.key_variable or phrase("the variable that holds it")
            return RefusedError(
                phrase("{model} refused the key{code}. Check {variable}.", model=model, code=code, variable=variable),
                reason="model_key_refused",
            )
        case theirs.ModelNotFoundError():
            return RefusedError(
                phrase("{model} is not known there{code}. Check its name.", model=model, code=code),
                reason="model_unknown",
            )
        case theirs.UserError():
            return unusable(choice)
        case theirs.ModelConnectionError() | OSError() if begun:
            return StorageError(
                phrase("{model} broke off in the middle of its reply. What came is kept; ask again.", model=model),
                reason="model_broke_off",
            )
        case theirs.ModelTimeoutError() | theirs.ModelRateLimitError() | theirs.ModelUnavailableError():
            return BusyError(
                phrase("{model} is overloaded or late{code}. Try again.", model=model, code=code), reason="model_busy"
            )
        case theirs.ModelConnectionError():
            return StorageError(
                phrase("{model} could not be reached. Check the address and the network.", model=model),
                reason="model_unreachable",
            )
        case theirs.AgentRunError() | OSError():
            return _failed(error, phrase("{model} failed{code}", model=model, code=code), private)
        case _:
            return None


def unusable(choice: Choice) -> RefusedError:
    """Return the refusal of a model that cannot be set up."""
    message = phrase(
        "{model} cannot be used: no such provider, or its key is missing. Set the provider's key variable "
        "(OPENAI_API_KEY for openai), or name a server of your own with baseUrl.",
        model=choice.label,
    )
    return RefusedError(message, reason="model_not_usable")


def _failed(error: Exception, what: str, private: Iterable[str]) -> StorageError:
    kind = type(error).__name__
    said = one_line(_message(getattr(error, "body", None)))
    if not said:
        return StorageError(
            phrase("{what}: {kind}. Try again.", what=what, kind=kind), reason="model_failed", kind=kind
        )
    told: str = clip(said, QUOTED)
    if _quotes(said, private):
        told = phrase("it quotes the request, so its words are left out")
    return StorageError(phrase("{field}: {what}", field=what, what=told), reason="model_failed", kind=kind)


def _message(body: object) -> str:
    """Return the message in an error's body, in the forms that servers give it."""
    while isinstance(body, Mapping):
        body = next((body[key] for key in ("error", "message", "detail") if body.get(key)), "")
    return body if isinstance(body, str) else ""


def _quotes(said: str, private: Iterable[str]) -> bool:
    lines = (line.strip() for text in private for line in text.split("\n"))
    return any(len(line) >= _TELLING and line in said for line in lines)
