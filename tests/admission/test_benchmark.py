"""The benchmark of admission without a network, and over texts of which it knows what must come out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import admission_corpora as corpora
from benchmarks.admission import Figure, read_turns

ROOT = Path(__file__).parents[2]
NOWHERE = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0", "PIP_CONFIG_FILE": "/dev/null"}


def test_without_a_network_it_says_so_and_measures_what_needs_none(environ: dict[str, str], tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    program = [sys.executable, "-m", "benchmarks.admission", "--wheels", str(wheels), "--hostile", "5"]
    ran = subprocess.run(
        program, cwd=ROOT, env={**environ, **NOWHERE}, capture_output=True, text=True, check=False, timeout=55
    )
    assert ran.returncode == 2, ran.stderr
    assert "credentials by shape" in ran.stdout
    assert "Traceback" not in ran.stderr
    for said in (str(wheels), "could not be downloaded", "--wheels", *corpora.WHEELS):
        assert said in ran.stderr


def test_what_is_there_is_not_downloaded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for pin in (*corpora.WHEELS, *corpora.CHANGELOGS):
        name, _, version = pin.partition("==")
        (tmp_path / f"{name.replace('.', '_').lower()}-{version}-py3-none-any.whl").touch()
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("pip was asked"))
    corpora.download(tmp_path)


@pytest.mark.parametrize(
    ("value", "bound", "least", "holds"), [(60, 55, True, True), (50, 55, True, False), (1, 0, False, False)]
)
def test_a_figure_is_held_against_its_bound(value: float, bound: float, least: bool, holds: bool) -> None:  # noqa: FBT001
    assert Figure("x", value, bound, "%", least=least).holds is holds


def test_a_text_stays_in_its_half_whatever_white_space_surrounds_it() -> None:
    assert corpora.half_of(" some text\n") == corpora.half_of("some text")
    assert {corpora.half_of(f"text {number}") for number in range(20)} == {"open", "closed"}


def test_turns_are_found_wherever_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    path.write_text('[{"sessions": [{"turns": [{"text": "a"}, {"text": "b"}]}]}, {"turns": [{"text": "c"}]}]')
    assert sorted(read_turns(path)) == ["a", "b", "c"]
    assert read_turns(None) == []
