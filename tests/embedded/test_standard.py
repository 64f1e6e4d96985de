"""Streams and places that no command can work with: one line of advice, and nothing half done."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.cli import CHILD, PERSONA, Persona

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "Ünï — 日本 \U0001f600 port"
COMMANDS = (
    ["mind", "recall", "port"],
    ["inject", "--prompt", "port"],
    ["tool", "memory", '{"action": "recall"}'],
    ["chat", "--once", "/mind recall port", "--json"],
    ["--help"],
)


@pytest.fixture
def persona(environ: dict[str, str], tmp_path: Path) -> Persona:
    found = Persona(environ, tmp_path)
    assert found("mind", "remember", TEXT).code == 0
    return found


def shell(persona: Persona, words: list[str], redirection: str) -> tuple[int, str]:
    """Run a command with streams that only a shell can make, and return its status and its errors."""
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$0" "$@" {redirection}', str(PERSONA), *words],
        env={**persona.environ, **CHILD},
        cwd=persona.cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=50,
    )
    return done.returncode, done.stderr.decode()


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_encoding_ends_a_command(persona: Persona, words: list[str], encoding: str) -> None:
    done = subprocess.run(
        [str(PERSONA), *words],
        env={**persona.environ, **CHILD, "PYTHONIOENCODING": encoding},
        cwd=persona.cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=50,
    )
    out = done.stdout.decode(encoding.partition(":")[0])
    assert b"Traceback" not in done.stderr
    assert b"codec" not in done.stderr
    for line in out.splitlines() if "--json" in words or words[0] == "tool" else ():
        json.loads(line)
    if words[0] == "tool":
        assert TEXT in json.loads(out)["text"]


def test_a_name_that_is_no_text_ends_no_command(persona: Persona) -> None:
    place = os.fsdecode(bytes(persona.cwd) + b"/caf\xe9\x1b[31m")
    os.mkdir(place)  # noqa: PTH102 - a name that is no text
    for words in (["mind", "doctor"], ["doctor"], ["mind", "--json"]):
        for encoding in ("utf-8:strict", "ascii:strict"):
            ran = Persona(persona.environ, persona.cwd)(*words, "--cwd", place, PYTHONIOENCODING=encoding)
            assert "Traceback" not in ran.err
            assert "\x1b" not in ran.out + ran.err
    ran = persona("mind", "--cwd", f"{place}/none")
    assert (ran.code, "\x1b" in ran.err) == (2, False)


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full")
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_full_or_a_closed_output_is_one_line_and_the_status_1(persona: Persona, words: list[str]) -> None:
    for redirection in (">/dev/full", ">&-"):
        code, errors = shell(persona, words, redirection)
        told = [line for line in errors.splitlines() if line.startswith("persona: standard output")]
        assert (code, len(told)) == (1, 1), errors
        assert "Traceback" not in errors


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full")
def test_who_cannot_be_answered_is_told_that_what_was_done_stands(persona: Persona) -> None:
    for words in (["mind", "remember", "Gates", "open", "at", "nine"], ["export", "all.zip"], ["backup", "saved"]):
        code, errors = shell(persona, words, ">/dev/full")
        assert (code, "What was done until then stands." in errors) == (1, True)
    assert "Gates open" in persona("mind", "recall", "gates").out
    assert (persona.cwd / "all.zip").is_file()
    assert (persona.cwd / "saved").is_dir()
    _, errors = shell(persona, ["mind", "remember", "nothing", "of", "this"], ">&-")
    assert "nothing was done" in errors
    assert "nothing of" not in persona("mind", "recall").out


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_reader_that_has_gone_is_no_error_to_tell(persona: Persona, words: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [str(PERSONA), *words],
        env={**persona.environ, **CHILD},
        cwd=persona.cwd,
        stdin=subprocess.DEVNULL,
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
        timeout=50,
    )
    os.close(writer)
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert b"roken" not in done.stderr


def test_closed_input_and_closed_errors_harm_nothing(persona: Persona) -> None:
    for redirection in ("<&-", "2>&-", "<&- 2>&-"):
        code, errors = shell(persona, ["mind", "remember", "More", "of", "it"], redirection)
        assert (code, errors) == (0, "")


def test_input_that_is_no_text_is_refused(persona: Persona) -> None:
    ran = persona("tool", "memory", "-", stdin=b"\xff\xfe{")
    assert (ran.code, ran.err.strip()) == (1, "persona: Standard input is not UTF-8 text.")


def test_an_argument_that_is_no_text_is_refused_by_its_field(persona: Persona) -> None:
    ran = persona("mind", "remember", os.fsdecode(b"a\xffb"))
    assert ran.code == 1
    assert "text holds half a character" in ran.err


def test_a_place_that_is_none_is_refused_with_what_to_do(persona: Persona) -> None:
    file = persona.cwd / "file"
    file.touch()
    gone = persona.cwd / "gone"
    gone.mkdir()
    tries = [
        persona("mind", "--agent-dir", str(file)),
        persona("mind", HOME="/dev/null", PI_AGENT_DIR="", PI_CODING_AGENT_DIR=""),
        persona("mind", "--cwd", "~nobody-of-that-name/x"),
    ]
    assert [ran.code for ran in tries] == [2, 2, 2]
    code, errors = shell(persona, ["mind"], "")
    assert code == 0, errors
    done = subprocess.run(
        ["/bin/sh", "-c", f'cd "{gone}" && rmdir "{gone}" && exec "$0" mind', str(PERSONA)],
        env={**persona.environ, **CHILD},
        capture_output=True,
        check=False,
        timeout=50,
    )
    told = [*(ran.err for ran in tries), done.stderr.decode()]
    assert done.returncode == 2
    assert not [text for text in told if "Traceback" in text]
    assert [text.strip().splitlines()[-1][:6] for text in told] == ["Error:"] * 4


@pytest.mark.skipif(sys.platform != "linux", reason="how root gives up what lets it enter everything")
def test_a_place_that_may_not_be_entered_is_refused_with_what_to_do(persona: Persona) -> None:
    shut, link = persona.cwd / "shut", persona.cwd / "link"
    shut.mkdir()
    link.symlink_to(shut / "agent")
    less = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    if less and shutil.which(less[0]) is None:
        pytest.skip("root enters everywhere")
    missing = str(persona.cwd / ("long" * 100))
    tries = [["--cwd", each] for each in (".", str(shut / "below"), missing)]
    for options in ([], *tries, ["--cwd", str(persona.cwd), "--agent-dir", str(link)]):
        # The shell goes there before nobody may; what may not be entered can be the directory that one is in.
        script = f'cd "{shut}" && chmod 000 . && exec "$0" "$@"'
        done = subprocess.run(
            ["/bin/sh", "-c", script, *less, str(PERSONA), "mind", "recall", *options],
            env={**persona.environ, **CHILD},
            capture_output=True,
            check=False,
            timeout=50,
        )
        shut.chmod(0o700)
        told = done.stderr.decode()
        assert (done.returncode, "Traceback" in told) == (2, False), (options, told)
        assert told.strip().splitlines()[-1][:6] == "Error:", (options, told)
        assert ("may not be entered" in told) is (missing not in options and str(link) not in options)
