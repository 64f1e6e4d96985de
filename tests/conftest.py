"""Every test runs in a home of its own, with a clock of its own, and never leaves this machine."""

from __future__ import annotations

import os
import re
import shutil
import signal
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.support import network
from tests.support.clock import ManualClock

if TYPE_CHECKING:
    from collections.abc import Iterator

# Done at import, before any of our modules: a stray variable or the real home must not reach even an import.
_ROOT = Path(tempfile.mkdtemp(prefix="persona-tests-")).resolve()
_OURS = re.compile(
    r"PI_|PERSONA_(?!TEST_|REQUIRE_HOSTS$)|XDG_|ALL_PROXY|(HTTP|HTTPS|NO|FTP)_PROXY|(NO|FORCE|CLICOLOR).*COLOR|"
    r"COLUMNS|LINES|.*_API_KEY|AI_AGENT|CLAUDE|OPENAI_|ANTHROPIC_|LANG|LC_",
    re.IGNORECASE,
)
for _name in [name for name in os.environ if _OURS.match(name)]:
    del os.environ[_name]
(_ROOT / "home").mkdir()
(_ROOT / "tmp").mkdir()
os.environ.update(
    HOME=str(_ROOT / "home"), USERPROFILE=str(_ROOT / "home"), TMPDIR=str(_ROOT / "tmp"), LANG="C.UTF-8", TZ="UTC"
)
tempfile.tempdir = None
network.install()
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell lets what it starts in the background ignore Ctrl-C, and every child that a test interrupts would, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "hermetic", database=None, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.register_profile("thorough", parent=settings.get_profile("hermetic"), max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "hermetic"))


def pytest_sessionfinish(exitstatus: int) -> None:
    """Leave the files of a failed run for whoever looks into it, and nothing otherwise.

    Where pytest is started several times in one process, whoever starts it asks to keep them, and removes them.
    """
    if exitstatus == 0 and "PERSONA_TEST_KEEP" not in os.environ:
        shutil.rmtree(_ROOT, ignore_errors=True)


@pytest.fixture(autouse=True)
def _ctrl_c_is_heard() -> Iterator[None]:
    """Undo what a server that ran in this process did to Ctrl-C: later children would ignore it, too."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A person's home directory, empty."""
    path = tmp_path / "home"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture
def agent_dir(home: Path) -> Path:
    """Where everything of ours would be kept; it does not exist yet, as on a first run."""
    return home / ".pi" / "agent"


@pytest.fixture
def environ(home: Path, agent_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment for hosts and child processes; HOME points into it for this process as well."""
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    return {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "PATH": os.environ.get("PATH", ""),
        "TMPDIR": str(scratch),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PI_AGENT_DIR": str(agent_dir),
    }


@pytest.fixture
def clock() -> ManualClock:
    """A clock that moves only by ``advance``; it is a whole ``ports.Scheduler``."""
    return ManualClock()
