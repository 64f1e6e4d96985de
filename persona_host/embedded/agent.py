"""The only door to pydantic-ai: one streamed request to one model.

The turn loop stays ours (``turns``): which tools run, what is logged and in which order hooks fire is not the library's
business. pydantic-ai is imported when a model is really called, since it costs more than everything else together.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from persona_hooks.errors import BusyError, InvalidError, PersonaError, RefusedError
from persona_hooks.specs import Usage
from persona_hooks.speech import phrase
from persona_host import extras
from persona_host.embedded.failures import translated, unusable
from persona_host.embedded.transcript import Line, Replied, Returned, Said, ToolCall

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelRequestPart, ModelResponse, ModelResponsePart
    from pydantic_ai.models import Model
    from pydantic_ai.providers import Provider

    from persona_hooks.tools import Tool
    from persona_host.embedded.choice import Choice

OnText = Callable[[str], None]
# What a server of one's own is sent where settings name no key variable: the OpenAI client insists on a value, and a
# key that happens to be in the environment was not meant for that server.
NO_KEY = "none"
_OPENAI = ("OPENAI_API_KEY", "OPENAI_BASE_URL")
_USUAL = {
    "openai": _OPENAI,
    "openai-chat": _OPENAI,
    "openai-responses": _OPENAI,
    "anthropic": ("ANTHROPIC_API_KEY", ""),
}
"""Of some providers, the variable with the key, and one with an address at which none is needed."""


@dataclass(frozen=True, slots=True)
class Step:
    """What one request brought."""

    reply: Replied
    usage: Usage


@dataclass(frozen=True, slots=True)
class Ask:
    """One request.

    Attributes:
        history: The conversation, ending with what the person or a tool said last.
        instructions: What precedes it and is never logged.
        tools: The tools on offer.
        max_tokens: An upper bound on the reply, or None for the provider's own.
        deadline_seconds: After it the request is cancelled; None where a person can interrupt it.
    """

    history: Sequence[Line]
    instructions: str = ""
    tools: Sequence[Tool] = ()
    max_tokens: int | None = None
    deadline_seconds: float | None = None


class Agent:
    """One model, kept open between requests so that its connection is reused.

    Used from one thread. Close it; an unclosed one leaves a socket behind.
    """

    def __init__(self, choice: Choice, environ: Mapping[str, str]) -> None:
        self.choice = choice
        self._environ = environ
        self._runner = asyncio.Runner()
        self._model: Model | None = None

    def step(self, ask: Ask, on_text: OnText) -> Step:
        """Send one request; ``on_text`` receives the reply's text piece by piece.

        In the main thread Ctrl-C cancels the request and arrives as ``KeyboardInterrupt``.

        Raises:
            RefusedError: The provider refuses the key or the request, or the model cannot be set up.
            BusyError: The deadline passed, or the provider is overloaded.
            StorageError: The provider could not be reached or failed.
        """
        _require(self.choice, self._environ)
        begun = False

        def hear(piece: str) -> None:
            nonlocal begun
            begun = True
            on_text(piece)

        try:
            return self._runner.run(self._step(ask, hear))
        except (PersonaError, KeyboardInterrupt):
            raise
        except TimeoutError:
            raise BusyError(
                phrase("{model} did not answer in time.", model=self.choice.label), reason="model_late"
            ) from None
        except Exception as error:
            said = (ask.instructions, *(line.text for line in ask.history))
            ours = translated(error, self.choice, begun=begun, private=(*said, self._key()))
            if ours is None:
                raise
            raise ours from None

    def close(self) -> None:
        """Close the connection."""
        model, self._model = self._model, None
        if model is not None:
            self._runner.run(_leave(model))
        self._runner.close()

    def _key(self) -> str:
        return self._environ.get(self.choice.key_variable or "OPENAI_API_KEY", "")

    async def _step(self, ask: Ask, on_text: OnText) -> Step:
        from pydantic_ai.direct import model_request_stream  # noqa: PLC0415 - heavy; only a real call needs it

        if self._model is None:
            model = build(self.choice, self._environ)
            await model.__aenter__()
            self._model = model
        request = _request(ask)
        async with asyncio.timeout(ask.deadline_seconds), model_request_stream(self._model, **request) as stream:
            async for event in stream:
                if text := _text_of(event):
                    on_text(text)
            return _stepped(stream.get(), self.choice)


def require(choice: Choice, environ: Mapping[str, str]) -> None:
    """Check that a model is set up, as far as that can be known without asking it.

    Raises:
        RefusedError: The chat extra, the provider's package or the key is missing, or there is no such provider.
        InvalidError: The provider takes no address of its own.
    """
    _require(choice, environ)
    build(choice, environ)


def _require(choice: Choice, environ: Mapping[str, str]) -> None:
    """Check the key before the library, which takes seconds to load and would then say the same."""
    if not extras.missing("chat"):
        _require_key(choice, environ)
    _require_library()


def _require_key(choice: Choice, environ: Mapping[str, str]) -> None:
    variable, address = choice.key_variable, ""
    if not variable and not choice.base_url:
        # The library reads these by itself, wherever our environment comes from.
        environ = os.environ
        variable, address = _USUAL.get(choice.provider, ("", ""))
    # A server of one's own needs none.
    if variable and not choice.local and not environ.get(variable) and not environ.get(address):
        raise RefusedError(
            phrase(
                "{model}: the variable {variable} holds no key. Set it and start again.",
                model=choice.label,
                variable=variable,
            ),
            reason="no_key",
        )


def _require_library() -> None:
    try:
        import pydantic_ai  # noqa: F401, PLC0415 - heavy; only a real call needs it
    except ImportError:
        raise RefusedError(
            phrase("Talking to a model needs the extra chat: {command}", command=extras.command("chat")),
            reason="missing_extra",
        ) from None


async def _leave(model: Model) -> None:
    await model.__aexit__(None, None, None)


def build(choice: Choice, environ: Mapping[str, str]) -> Model:
    """Return pydantic-ai's model for a choice.

    Raises:
        RefusedError: The provider's package or key is missing.
        InvalidError: The provider is unknown, or takes no address of its own.
    """
    from pydantic_ai.exceptions import UserError  # noqa: PLC0415 - heavy; only a real call needs it
    from pydantic_ai.models import infer_model  # noqa: PLC0415 - as above

    # "openai" means the chat API here: it is what every compatible server speaks. The other one has a name of its own.
    name = "openai-chat" if choice.provider == "openai" else choice.provider
    try:
        return infer_model(f"{name}:{choice.name}", lambda provider: _provider(provider, choice, environ))
    except ImportError as error:
        message = phrase(
            "{provider}: the provider's package is not installed ({package}).",
            provider=choice.provider,
            package=error.name or phrase("see its documentation"),
        )
        raise RefusedError(message, reason="provider_not_installed") from None
    except (UserError, ValueError):
        raise unusable(choice) from None


def _provider(name: str, choice: Choice, environ: Mapping[str, str]) -> Provider[Any]:
    from pydantic_ai.providers import infer_provider_class  # noqa: PLC0415 - heavy; only a real call needs it

    options: dict[str, str] = {}
    if choice.base_url:
        options = {"base_url": choice.base_url, "api_key": NO_KEY}
    if choice.key_variable:
        options["api_key"] = environ.get(choice.key_variable) or NO_KEY
    try:
        return infer_provider_class(name)(**options)
    except TypeError:
        raise InvalidError(
            phrase(
                "{provider}: this provider takes no address or key from settings; set its own variables.",
                provider=choice.provider,
            ),
            field="models",
        ) from None


def _request(ask: Ask) -> dict[str, Any]:
    from pydantic_ai.messages import InstructionPart  # noqa: PLC0415 - heavy; only a real call needs it
    from pydantic_ai.models import ModelRequestParameters  # noqa: PLC0415 - as above
    from pydantic_ai.settings import ModelSettings  # noqa: PLC0415 - as above
    from pydantic_ai.tools import ToolDefinition  # noqa: PLC0415 - as above

    offered = [
        # Our schemas have optional parameters, which strict mode does not know.
        ToolDefinition(
            name=tool.name,
            parameters_json_schema=tool.parameters,
            description=tool.description,
            strict=False,
        )
        for tool in ask.tools
    ]
    instructions = [InstructionPart(content=ask.instructions)] if ask.instructions else []
    settings = ModelSettings(max_tokens=ask.max_tokens) if ask.max_tokens is not None else None
    return {
        "messages": messages(ask.history),
        "model_settings": settings,
        "model_request_parameters": ModelRequestParameters(function_tools=offered, instruction_parts=instructions),
    }


def messages(history: Sequence[Line]) -> list[ModelMessage]:
    """Return a conversation as pydantic-ai's messages: what is said between two replies is one request."""
    from pydantic_ai.messages import ModelRequest, ModelResponse  # noqa: PLC0415 - heavy; only a real call needs it

    turns: list[ModelMessage] = []
    pending: list[ModelRequestPart] = []
    for line in history:
        if isinstance(line, Replied):
            parts = _response_parts(line)
            if not parts:  # an aborted reply without a word; providers refuse an empty message
                continue
            if pending:
                turns.append(ModelRequest(parts=pending))
            turns.append(ModelResponse(parts=parts))
            pending = []
        else:
            pending.append(_request_part(line))
    return [*turns, *([ModelRequest(parts=pending)] if pending else [])]


def _response_parts(line: Replied) -> list[ModelResponsePart]:
    from pydantic_ai.messages import TextPart, ToolCallPart  # noqa: PLC0415 - heavy; only a real call needs it

    calls = [
        ToolCallPart(
            tool_name=call.tool,
            args=call.arguments if isinstance(call.arguments, str) else dict(call.arguments),
            tool_call_id=call.id,
        )
        for call in line.calls
    ]
    return [*([TextPart(content=line.text)] if line.text else []), *calls]


def _request_part(line: Said | Returned) -> ModelRequestPart:
    from pydantic_ai.messages import ToolReturnPart, UserPromptPart  # noqa: PLC0415 - heavy; only a real call needs it

    if isinstance(line, Said):
        return UserPromptPart(content=line.text)
    return ToolReturnPart(
        tool_name=line.tool,
        content=line.text,
        tool_call_id=line.call_id,
        outcome="failed" if line.is_error else "success",
    )


def _text_of(event: object) -> str:
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta  # noqa: PLC0415 - heavy

    match event:
        case PartStartEvent(part=TextPart(content=text)) | PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            return text
        case _:
            return ""


def _stepped(response: ModelResponse, choice: Choice) -> Step:
    from pydantic_ai.messages import TextPart, ToolCallPart  # noqa: PLC0415 - heavy; only a real call needs it

    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    calls = tuple(
        ToolCall(part.tool_call_id, part.tool_name, _arguments(part.args))
        for part in response.parts
        if isinstance(part, ToolCallPart)
    )
    usage = Usage(response.usage.input_tokens, response.usage.output_tokens, response.usage.cache_read_tokens)
    return Step(Replied(text, calls, response.model_name or choice.label), usage)


def _arguments(sent: str | Mapping[str, Any] | None) -> Mapping[str, Any] | str:
    if not sent:
        return {}
    if not isinstance(sent, str):
        return dict(sent)
    try:
        value = json.loads(sent)
    except ValueError:
        return sent
    return value if isinstance(value, dict) else sent
