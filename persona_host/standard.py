"""The standard streams, made ready once and for every command: whatever they are, nothing that was done fails on them.

A stream may be closed, full, a pipe that nobody reads any more, or of an encoding that lacks a character.
"""

from __future__ import annotations

import errno
import io
import json
import os
import sys
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Final

from persona_hooks.errors import InvalidError, PersonaError
from persona_hooks.speech import phrase
from persona_host.descriptors import hold_standard_streams

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


_FAILURES: Final = frozenset(
    {errno.EPIPE, errno.ENOSPC, errno.EIO, errno.EBADF, errno.EFBIG, errno.EDQUOT, errno.EINVAL, errno.ENXIO}
)


class ClosedError(Exception):
    """Standard output is closed: there is nowhere to print to."""


def prepare() -> None:
    """Make the streams fit to be written to: what an encoding lacks is spelt out.

    Raises:
        ClosedError: Standard output is closed.
    """
    closed = sys.stdout is None
    hold_standard_streams()
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123 - for as long as the process lives
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - as above
    if closed:
        raise ClosedError
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def guarded() -> Iterator[None]:
    """Run a command: a stream that fails ends it with one line and the status 1, or silently where nobody reads."""
    try:
        prepare()
        try:
            yield
        finally:
            sys.stdout.flush()
    except ClosedError:
        _stop("standard output is closed, so nothing was done.")
    except PersonaError:
        raise
    except OSError as error:
        # What fails on a named file, or as no stream can, is a fault of ours and must not pass for this.
        if error.filename is not None or error.errno not in _FAILURES:
            raise
        told = f"standard output or input failed ({error.strerror}). What was done until then stands."
        _stop("" if error.errno == errno.EPIPE else told)


def json_line(value: Mapping[str, object], stream: IO[str]) -> str:
    """Return a value as one line of JSON: in ASCII where the stream lacks one of its characters."""
    line = json.dumps(value, ensure_ascii=False)
    try:
        line.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        line = json.dumps(value)
    return f"{line}\n"


def read_input() -> str:
    """Return the text on standard input.

    Raises:
        InvalidError: It is not UTF-8.
    """
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidError(phrase("Standard input is not UTF-8 text."), field="stdin") from None


def _stop(why: str) -> None:
    # Python flushes once more at its end, and would complain a second time.
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    if why:
        with suppress(OSError):
            sys.stderr.write(f"persona: {why}\n")
            sys.stderr.flush()
    raise SystemExit(1)
