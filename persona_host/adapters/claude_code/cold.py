"""A hook that finds no server: a whole runtime in its own process, for this one event."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from persona_hooks.cards import one_line
from persona_hooks.errors import PersonaError
from persona_host.adapters.claude_code.conversation import Conversation, Whose, encoded
from persona_host.adapters.claude_code.log import begun
from persona_host.adapters.claude_code.payload import parse
from persona_host.headless import agent_dir_of

if TYPE_CHECKING:
    from collections.abc import Mapping


def answer_here(event: str, payload: bytes, environ: Mapping[str, str], *, interrupted: bool) -> tuple[bytes, bytes]:
    """Return what is to be printed on standard output and standard error.

    Args:
        event: The event that the hook was run for.
        payload: The JSON on standard input.
        environ: The environment.
        interrupted: A server took the event and did not answer.
    """
    try:
        return encoded(_answered(event, payload, environ, interrupted=interrupted)), b""
    except PersonaError as error:
        return b"", f"{event}: {one_line(error.message)}".encode("utf-8", "backslashreplace")
    except Exception as error:  # noqa: BLE001 - a fault of ours must not show at every prompt; its text may quote one
        line = f"{event}: that failed ({type(error).__name__}). See `persona doctor`."
        return b"", line.encode("utf-8", "backslashreplace")


def _answered(event: str, payload: bytes, environ: Mapping[str, str], *, interrupted: bool) -> dict[str, object]:
    home = Path.home()
    whose = Whose(agent_dir_of(environ, home), home, environ)
    told = begun(parse(event, payload, environ.get("CLAUDE_PROJECT_DIR", "")), whose.agent_dir)
    conversation = Conversation(whose, told)
    try:
        output = conversation.answer(told._replace(interrupted=interrupted))
        conversation.caught_up()
        conversation.settle()
        late = conversation.shown()
        if late and "decision" not in output:
            output["systemMessage"] = f"{output['systemMessage']}\n{late}" if "systemMessage" in output else late
    finally:
        conversation.close()
    return output
