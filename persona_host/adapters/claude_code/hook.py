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

TYPE_CHECKING = False  # what typing calls so; to import that takes as long as all of this
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Final

MAX_INPUT: Final = 8 * 1024 * 1024
"""The longest JSON that is read, in bytes. Claude Code's own is far below; a paste may be long."""


def main(words: Sequence[str], environ: Mapping[str, str] = os.environ) -> int:
    """Answer the event that the one word names, from the process's standard streams; return 0."""
    lacking = _hold_standard_streams()
    # Whatever a plugin prints goes to standard error: between the JSON it would make all of it unreadable.
    printed = os.dup(1)
    os.dup2(2, 1)
    try:
        out, err = answer(words[0], _read(), dict(environ))
        if out and 1 in lacking:
            out, err = b"", err + b"standard output is closed: nothing is given to the model.\n"
        _write(printed, out)
    except OSError as error:
        err = f"standard output or input failed ({error.strerror}): nothing is given to the model.\n".encode()
    except BaseException as error:  # noqa: BLE001 - a plugin that ends the process, say: no status but 0 may come of it
        err = f"{words[0]}: that failed ({type(error).__name__}). See `persona doctor`.\n".encode()
    _complain(err)
    _let_go()
    return 0


def answer(event: str, payload: bytes, environ: Mapping[str, str]) -> tuple[bytes, bytes]:
    """Return what is to be printed on standard output and standard error for an event."""
    if len(payload) > MAX_INPUT:
        return b"", f"{event}: the JSON on standard input is longer than {MAX_INPUT} bytes.\n".encode()
    interrupted = False
    try:
        found = ask(event, payload, environ)
    except Interrupted:
        found, interrupted = None, True
    if found is not None:
        return found
    # A process for one event makes little garbage, and looking for it would take a tenth of its time.
    gc.disable()
    from persona_host.adapters.claude_code.cold import answer_here  # noqa: PLC0415 - loads the plugins

    return answer_here(event, payload, environ, interrupted=interrupted)


def _hold_standard_streams() -> set[int]:
    """Open what is closed of the three standard streams; return which were.

    The next file that is opened would get their number, and what is printed would land in it.
    """
    lacking = set()
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            lacking.add(number)
            os.open(os.devnull, os.O_RDWR)
    return lacking


def _read() -> bytes:
    """Return standard input, or one byte more of it than is allowed."""
    parts, size = [], 0
    while size <= MAX_INPUT and (part := os.read(0, 1 << 16)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _write(number: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(number, rest) :]


def _let_go() -> None:
    """Send on what plugins printed and is still held back: the process may end without."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            continue  # nobody reads it


def _complain(text: bytes) -> None:
    lines = b"".join(b"persona: " + line + b"\n" for line in text.splitlines())
    try:
        _write(2, lines)
    except OSError:
        return  # nobody reads what went wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
