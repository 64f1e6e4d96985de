"""``persona hook EVENT``: what Claude Code runs at its events, before every prompt among them.

JSON comes in on standard input, JSON goes out on standard output. Whatever happens, the exit status is 0: a status of 2
would take the person's prompt away, and any other one shows an error at each of them. What went wrong is one line on
standard error, which Claude Code keeps in its debug log.

What a running server answers needs nothing but a socket; only without one are the plugins loaded here.
"""

from __future__ import annotations

import gc
import os
import sys

from persona_host.adapters.claude_code.asking import Interrupted, ask
from persona_host.descriptors import hold_standard_streams

TYPE_CHECKING = False  # what typing calls so; to import that takes as long as all of this
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

MAX_INPUT: Final = 8 * 1024 * 1024
"""The longest JSON that is read, in bytes. Claude Code's own is far below; a paste may be long."""


class _StreamError(Exception):
    """A standard stream failed; what it says is why."""


def main(event: str, environ: Mapping[str, str] = os.environ) -> int:
    """Answer an event from the process's standard streams; return 0."""
    lacking = hold_standard_streams()
    # Whatever a plugin prints goes to standard error: between the JSON it would make all of it unreadable.
    printed = os.dup(1)
    os.dup2(2, 1)
    try:
        out, err = answer(event, _read(), dict(environ))
        if out and 1 in lacking:
            out, err = b"", err + b"standard output is closed: nothing is given to the model.\n"
        _write(printed, out)
    except _StreamError as error:
        err = _encoded(f"standard output or input failed ({error}): nothing is given to the model.")
    except BaseException as error:  # noqa: BLE001 - a plugin that ends the process, say: no status but 0 may come of it
        err = _encoded(f"{event}: that failed ({type(error).__name__}). See `persona doctor`.")
    _complain(err)
    _let_go()
    return 0


def answer(event: str, payload: bytes, environ: Mapping[str, str]) -> tuple[bytes, bytes]:
    """Return what is to be printed on standard output and standard error for an event."""
    if len(payload) > MAX_INPUT:
        return b"", _encoded(f"{event}: the JSON on standard input is longer than {MAX_INPUT} bytes.")
    interrupted = False
    try:
        found = ask(event, payload, environ)
    except Interrupted:
        if event == "SessionEnd":
            return b"", b""  # its time is up, and the log keeps what there is to keep
        found, interrupted = None, True
    if found is not None:
        return found
    # A process for one event makes little garbage, and looking for it would take a tenth of its time.
    gc.disable()
    from persona_host.adapters.claude_code.cold import answer_here  # noqa: PLC0415 - loads the plugins

    return answer_here(event, payload, environ, interrupted=interrupted)


def _read() -> bytes:
    """Return standard input, or a little more of it than is allowed."""
    parts, size = [], 0
    try:
        while size <= MAX_INPUT and (part := os.read(0, 1 << 16)):
            parts.append(part)
            size += len(part)
    except OSError as error:
        raise _StreamError(error.strerror) from None
    return b"".join(parts)


def _write(number: int, data: bytes) -> None:
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[os.write(number, rest) :]
    except OSError as error:
        raise _StreamError(error.strerror) from None


def _let_go() -> None:
    """Send on what plugins printed and is still held back: the process may end without."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            continue  # nobody reads it


def _encoded(text: str) -> bytes:
    # A word of the command line may hold bytes that are no text.
    return text.encode("utf-8", "backslashreplace")


def _complain(text: bytes) -> None:
    """Print lines on standard error, without what would do something to a terminal."""
    lines = text.decode("utf-8", "backslashreplace").splitlines()
    plain = ("".join(char if char.isprintable() else "?" for char in line) for line in lines)
    try:
        _write(2, b"".join(_encoded(f"persona: {line}\n") for line in plain))
    except _StreamError:
        return  # nobody reads what went wrong
