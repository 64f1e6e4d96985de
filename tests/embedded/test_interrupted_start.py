"""Ctrl-C while a command still loads: it ends, and says nothing that only a programmer could read."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

INTERRUPTED = """
import os, signal, sys

left = int(sys.argv.pop(1))

def press(event, arguments):
    global left
    if event == "import" and begun:
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGINT)

begun = False
sys.addaudithook(press)
from persona_host.cli import main
begun = True
main()
"""
"""Runs a command and presses Ctrl-C when it begins to import its n-th module, whichever that is."""


def run(nth: int, environ: dict[str, str], cwd: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(nth), "mind", "recall"],
        env=environ,
        cwd=cwd,
        capture_output=True,
        check=False,
        text=True,
        timeout=50,
    )
    return done.returncode, done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="how a process ends there is no signal")
@pytest.mark.parametrize("nth", [1, 2, 8, 30])
def test_ctrl_c_while_a_command_loads_ends_it_like_any_program(
    environ: dict[str, str], tmp_path: Path, nth: int
) -> None:
    assert run(nth, environ, tmp_path) == (-signal.SIGINT, "")


@pytest.mark.skipif(sys.platform == "win32", reason="as above")
def test_ctrl_c_once_a_command_has_begun_is_one_word(environ: dict[str, str], tmp_path: Path) -> None:
    loading = [run(nth, environ, tmp_path) for nth in (150, 400)]
    assert not [errors for _, errors in loading if "Traceback" in errors]


def test_ctrl_c_is_heard_again_once_a_command_has_begun(environ: dict[str, str], tmp_path: Path) -> None:
    code = (
        "import signal, sys; from persona_host import cli, commandline; from persona_host.commandline import group\n"
        "group.main = lambda: print(signal.getsignal(signal.SIGINT) is before)\n"
        "{set}before = signal.getsignal(signal.SIGINT); cli.main()"
    )
    for choice in ("", "signal.signal(signal.SIGINT, signal.SIG_IGN); "):
        done = subprocess.run(
            [sys.executable, "-c", code.format(set=choice)],
            env=environ,
            cwd=tmp_path,
            capture_output=True,
            check=False,
            text=True,
            timeout=50,
        )
        assert (done.stdout.strip(), done.stderr) == ("True", "")
