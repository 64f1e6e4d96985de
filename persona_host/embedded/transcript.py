"""What was said, as values, and how it stands in the session log.

A model's history is rebuilt from the log's active branch at every request, so that a restart, a fork or a move to
another branch needs no second store. Whatever the log holds, the result is a history that providers accept: a tool
call whose answer was never written (an interrupted run) is answered here, and an answer without its call is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from persona_hooks.ports import Entry

MESSAGE = "message"
INTERRUPTED = "The call was interrupted before its result was recorded."


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call of the model's.

    Attributes:
        arguments: The JSON object it sent; its raw text where that was no JSON object.
    """

    id: str
    tool: str
    arguments: Mapping[str, Any] | str


@dataclass(frozen=True, slots=True)
class Said:
    """What the person said."""

    text: str

    def data(self) -> dict[str, Any]:
        """Return what the log entry holds beside role and text."""
        return {}


@dataclass(frozen=True, slots=True)
class Replied:
    """What the model said and asked for; ``aborted`` where the person stopped it."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    model: str = ""
    aborted: bool = False

    def data(self) -> dict[str, Any]:
        """Return what the log entry holds beside role and text."""
        calls = [{"id": call.id, "tool": call.tool, "arguments": call.arguments} for call in self.calls]
        return {
            "model": self.model,
            **({"toolCalls": calls} if calls else {}),
            **({"aborted": True} if self.aborted else {}),
        }


@dataclass(frozen=True, slots=True)
class Returned:
    """What a tool answered, as the model reads it."""

    call_id: str
    tool: str
    text: str
    is_error: bool = False

    def data(self) -> dict[str, Any]:
        """Return what the log entry holds beside role and text."""
        return {"callId": self.call_id, "tool": self.tool, "isError": self.is_error}


Line = Said | Replied | Returned
ROLES: dict[type[Line], str] = {Said: "user", Replied: "assistant", Returned: "tool"}


def lines(branch: Iterable[Entry]) -> list[Line]:
    """Return the conversation on a branch, complete: every tool call has exactly one answer, right after it."""
    history: list[Line] = []
    waiting: dict[str, ToolCall] = {}
    for entry in branch:
        line = line_of(entry)
        if isinstance(line, Returned):
            if waiting.pop(line.call_id, None) is not None:
                history.append(line)
        elif line is not None:
            history += _unanswered(waiting)
            waiting = {call.id: call for call in line.calls} if isinstance(line, Replied) else {}
            history.append(line)
    return [*history, *_unanswered(waiting)]


def line_of(entry: Entry) -> Line | None:
    """Return what an entry says, or None: it is no message, or not one of ours."""
    if entry.type != MESSAGE:
        return None
    data = entry.data
    text = data.get("content")
    if not isinstance(text, str):
        return None
    match data.get("role"):
        case "user":
            return Said(text)
        case "assistant":
            return Replied(text, tuple(_calls(data)), str(data.get("model", "")), data.get("aborted") is True)
        case "tool":
            call, tool = data.get("callId"), data.get("tool")
            named = isinstance(call, str) and isinstance(tool, str)
            return Returned(str(call), str(tool), text, data.get("isError") is True) if named else None
        case _:
            return None


def _calls(data: Mapping[str, Any]) -> Iterator[ToolCall]:
    calls = data.get("toolCalls", ())
    for call in calls if isinstance(calls, list | tuple) else ():
        match call:
            case {"id": str(call_id), "tool": str(tool), "arguments": Mapping() | str() as arguments}:
                yield ToolCall(call_id, tool, arguments)
            case _:  # another release's call: without its name it cannot be sent again
                continue


def _unanswered(waiting: Mapping[str, ToolCall]) -> list[Line]:
    return [Returned(call.id, call.tool, INTERRUPTED, is_error=True) for call in waiting.values()]
