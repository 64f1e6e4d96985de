"""The host on a real pseudo-terminal, as a person meets it."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from typing import TYPE_CHECKING, Self

import pytest

from tests.support.cli import CHILD, PERSONA
from tests.support.model_server import ModelServer, Reply

pty = pytest.importorskip("pty", reason="a pseudo-terminal is POSIX")
if sys.platform != "win32":
    import fcntl
    import select
    import struct
    import termios

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from persona_host.place import Place

PATIENCE = 40.0
# Shown when the prompt stands; a key that is pressed before that meets a terminal in another mode.
TOOLBAR = "no persona · openai:scripted"
SEQUENCES = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07|\x1b[=>()][0-9A-Za-z]?|\r")


class OnTerminal:
    """``persona chat`` as the child of a pseudo-terminal of 24 lines and 80 columns."""

    def __init__(self, *words: str, environ: dict[str, str], cwd: Path) -> None:
        self.raw = b""
        self._seen = 0
        self._pid, self._fd = pty.fork()
        if self._pid == 0:
            os.chdir(cwd)
            os.execve(str(PERSONA), [str(PERSONA), "chat", *words], {**environ, **CHILD})  # noqa: S606
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        os.close(self._fd)

    def send(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def wait_for(self, text: str) -> None:
        """Read until ``text`` was shown since the last wait; terminal sequences and line ends do not count."""
        deadline = time.monotonic() + PATIENCE
        while text.replace(" ", "") not in self._flat()[self._seen :]:
            self._read(deadline, text)
        self._seen = self._flat().index(text.replace(" ", ""), self._seen) + len(text.replace(" ", ""))

    def end(self) -> int:
        """Wait for the child's end; return its exit status."""
        deadline = time.monotonic() + PATIENCE
        while True:
            done, status = os.waitpid(self._pid, os.WNOHANG)
            if done:
                self._pid = 0
                while select.select([self._fd], [], [], 0)[0]:  # its last words may outlive it
                    before = len(self.raw)
                    self._read(deadline, "the end")
                    if len(self.raw) == before:
                        break
                return os.waitstatus_to_exitcode(status)
            self._read(deadline, "the end")

    def _flat(self) -> str:
        return re.sub(r"\s", "", SEQUENCES.sub(b"", self.raw).decode(errors="replace"))

    def _read(self, deadline: float, what: str) -> None:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what!r} was not shown; the terminal shows: {self._flat()[-600:]}")
        if select.select([self._fd], [], [], 0.1)[0]:
            try:
                data = os.read(self._fd, 65_536)
            except OSError:  # Linux reports the child's end like this
                return
            self.raw += data
            # prompt-toolkit asks where the cursor is and waits a little for an answer.
            for _ in range(data.count(b"\x1b[6n")):
                os.write(self._fd, b"\x1b[1;1R")


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer(["Good morning.", Reply("Never heard.", delay=60), "Still here."]) as server:
        yield server


def test_a_person_talks_interrupts_and_leaves(
    model: ModelServer, environ: dict[str, str], place: Place, agent_dir: Path
) -> None:
    variables = {
        **environ, "TERM": "xterm-256color", "OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "none",
    }  # fmt: skip
    with OnTerminal("--model", "openai:scripted", "--session", "tty", environ=variables, cwd=place.cwd) as terminal:
        terminal.wait_for("/help lists the commands")
        terminal.wait_for(TOOLBAR)
        terminal.send("hello\r")
        terminal.wait_for("Good morning.")
        terminal.wait_for(TOOLBAR)
        terminal.send("/mind recall port\r")
        terminal.wait_for("othing")
        terminal.wait_for(TOOLBAR)
        terminal.send("are you there?\r")
        model.wait(2)
        terminal.send("\x03")
        terminal.wait_for("Stopped. What was said is kept.")
        terminal.wait_for(TOOLBAR)
        terminal.send("and now?\r")
        terminal.wait_for("Still here.")
        terminal.wait_for(TOOLBAR)
        terminal.send("\x04")
        assert terminal.end() == 0
    log = next((agent_dir / "persona-host").rglob("tty.jsonl")).read_text()
    assert [word in log for word in ("hello", "Good morning.", "are you there?", "Still here.")] == [True] * 4
    assert "Never" not in log


def test_no_color_means_no_colour(environ: dict[str, str], place: Place) -> None:
    variables = {**environ, "TERM": "xterm-256color", "NO_COLOR": "1"}
    with OnTerminal(environ=variables, cwd=place.cwd) as terminal:
        terminal.wait_for("/help lists the commands")
        terminal.wait_for("no model")
        terminal.send("hello\r")
        terminal.wait_for("No model is configured")
        terminal.wait_for("no persona · no model")
        terminal.send("\x04")
        assert terminal.end() == 0
    colours = re.findall(rb"\x1b\[([0-9;]*)m", terminal.raw)
    assert not [code for code in colours if re.search(rb"(^|;)(3[0-8]|4[0-8]|9[0-7]|10[0-7])(;|$)", code)]


def test_plain_on_a_terminal_has_no_sequences_at_all(environ: dict[str, str], place: Place) -> None:
    with OnTerminal("--plain", environ={**environ, "TERM": "xterm-256color"}, cwd=place.cwd) as terminal:
        terminal.wait_for("/help lists the commands")
        terminal.wait_for(">")
        terminal.send("hello\r")
        terminal.wait_for("No model is configured")
        terminal.wait_for(">")
        terminal.send("\x04")
        assert terminal.end() == 0
    assert b"\x1b" not in terminal.raw
    assert terminal.raw.endswith(b"\r\n")


def test_without_the_chat_extra_a_terminal_is_served_plainly(environ: dict[str, str], place: Place) -> None:
    variables = {**environ, "TERM": "xterm-256color", "PERSONA_TEST_WITHOUT": "prompt_toolkit,pydantic_ai"}
    with OnTerminal("--model", "openai:any", environ=variables, cwd=place.cwd) as terminal:
        terminal.wait_for(">")
        terminal.send("hello\r")
        terminal.wait_for("needs the extra chat: ")
        terminal.wait_for(">")
        terminal.send("\x04")
        assert terminal.end() == 0
