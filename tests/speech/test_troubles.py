"""What is said of trouble is worded as well: of held calls, damaged files, malformed personas, and hosts."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from persona_hooks import speech
from persona_hooks.journal import MemoryJournal
from persona_hooks.policies import POLICIES
from persona_host.adapters.installing import Target, install, uninstall
from persona_host.doctor import doctor
from persona_host.embedded.models import HostModels
from persona_host.extras import PROBES
from persona_host.hosts import COSTS, HOSTS
from persona_host.place import Place
from persona_host.runtime import Runtime, Setup
from tests.speech.bracketing import LANGUAGE, SAID, lines, speaking, stores, unworded
from tests.support.canaries import ORDER
from tests.support.embedded import RecordingScreen
from tests.support.sweeping import shipped

if TYPE_CHECKING:
    from pathlib import Path

    from persona_hooks.verbs import Answer, Origin
    from tests.support.clock import ManualClock

INSTALLED = ("pi", "mcp", "claude-code")
FINDINGS = {"link", "corrupt", "damaged", "quarantined", "unsupported", "version"}
"""What safekeeping calls what it finds: a word that programs read, too."""
DAMAGE = (b"{", b"[]", b'{"version": 9, "entries": []}', b'{"version": 1, "entries": [{"id": 5}]}')


def strange(runtime: Runtime, origin: Origin) -> Answer:
    """Let somebody who is not the person say what a person has to look at."""
    return runtime.call("memory.remember", {"text": ORDER}, session=runtime.session, origin=origin, audience="model")


def test_what_is_held_for_a_person_is_worded(home: Path) -> None:
    runtime = speaking(home)
    try:
        # What these three are told is a model's to read, which reads English.
        held, *_ = [strange(runtime, origin).details["id"] for origin in ("tool", "peer", "worker")]
        told = [runtime.command(line) for line in ("/mind quarantine", f"/mind quarantine show {held}")]
        told += [runtime.command(f"/mind quarantine approve {held}") for _ in range(2)]
        told += [
            runtime.command("/mind quarantine drop nothing"),
            runtime.command("/mind"),
            runtime.command("/mind recall"),
        ]
    finally:
        runtime.close()
    cards = [replace(item.card, body=()) if item.verb == "mind.snapshot" else item.card for item in told]
    assert [words for card in cards if (words := unworded(lines(card), ORDER, *SAID, *stores()))] == []


@pytest.mark.parametrize("damage", DAMAGE)
def test_what_is_wrong_with_files_is_worded(home: Path, damage: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    root = home / ".pi" / "agent" / "persona-mind"
    for name in ("memory/ltm/_default.json", "quarantine.json", "tombstones.json"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(damage)
        (root / name).chmod(0o644)
    (root / "memory" / "ltm" / "link.json").symlink_to(root / "quarantine.json")
    runtime = speaking(home)
    try:
        verdicts = (
            "/mind",
            "/mind recall",
            "/mind doctor",
            "/mind remember alpha",
            "/mind erase 1",
            "/mind quarantine",
            "/mind backup",
        )
        told = [runtime.command(line) for line in verdicts]
        runtime.blocks("alpha")
    finally:
        runtime.close()
    seen = "\n".join([*(lines(item.card, body=item.verb != "mind.snapshot") for item in told), capsys.readouterr().err])
    shown = re.sub(r"^(warning|error): ", "", seen, flags=re.MULTILINE)
    words = (
        "chmod go=",
        "quarantine.json",
        "_default.json",
        "tombstones.json",
        "_default",
        "link.json",
        *SAID,
        *stores(),
    )
    # What safekeeping finds is told by a word that programs read, too.
    assert [word for word in unworded(shown, *words) if "_" not in word and word not in FINDINGS] == []


BRIEFS = (
    "no front matter",
    "---\nname: kiri\npersona: true\n",
    "---\nname: kiri\n---\nx",
    "---\nname: kiri\npersona: true\nrole: unheard\n---\n",
    "---\nname: kiri\npersona: true\nname: kiri\n---\nx",
    "---\nname: [1]\npersona: true\n---\nx",
    "---\nname: default\npersona: true\n---\nx",
    "---\nname: &a kiri\npersona: true\nx: *a\n---\nx",
    "---\n- a\n---\nx",
)


@pytest.mark.parametrize("brief", BRIEFS)
def test_what_is_wrong_with_a_persona_is_worded(home: Path, brief: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = home / ".pi" / "agent" / "persona" / "personas"
    folder.mkdir(parents=True)
    (folder / "kiri.md").write_text(brief)
    (folder / "ann.md").write_text(
        "---\nname: Ann\npersona: true\nmodel: openai:x\nobjective: Ship it\n---\nYou are Ann."
    )
    runtime = speaking(home)
    try:
        told = [
            runtime.command(line)
            for line in ("/persona", "/persona use kiri", "/persona doctor", "/persona use Ann", "/persona show")
        ]
    finally:
        runtime.close()
    seen = "\n".join([*(" ".join(lines(item.card).split()) for item in told), capsys.readouterr().err])
    assert unworded(seen, "kiri.md", "ann.md", "persona/personas", "Ship it", "You are Ann.", str(home), *SAID) == []


@pytest.mark.parametrize("host", sorted(HOSTS))
def test_what_is_said_of_a_host_is_worded(
    host: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    environ = {"HOME": str(home), "LANG": LANGUAGE, "PATH": str(tmp_path)}
    place = Place(home / ".pi" / "agent", tmp_path, home, environ)
    doctor(place, host, as_json=False, plain=True)
    target = Target(place.agent_dir, environ, lambda: speaking(home), home=home)
    with speech.speaking(speech.Voice(lambda: (LANGUAGE, True))):
        told = [do(host, target).card for do in (install, install, uninstall, uninstall) if host in INSTALLED]
    seen = "\n".join([*capsys.readouterr(), *(lines(card, body=host != "mcp") for card in told)])
    data = (str(home), str(tmp_path), *stores(), *HOSTS, *POLICIES, *COSTS, *PROBES, sys.executable)
    words = set(
        unworded(seen, *data, "plugin", "program", "extension", "manifest", "python", "node", "place", "extra", "auto")
    )
    assert words <= {"pip", "install", "editable", "claude"}


def test_notices_and_the_status_line_are_worded(home: Path, tmp_path: Path, clock: ManualClock) -> None:
    screen = Watching()
    environ = {"HOME": str(home), "LANG": LANGUAGE}
    setup = Setup("sweep", home / ".pi" / "agent", home, environ, plugins=shipped, patience=30.0)
    runtime = Runtime.start(setup, ui=screen, models=HostModels(environ), scheduler=clock)
    try:
        (project := tmp_path / "project").mkdir()
        runtime.open(MemoryJournal("s", project, now=clock.now), session_id="s", cwd=project)
        runtime.fire(
            "tool_result",
            tool="delegate",
            call_id="1",
            text="[BLOCKED: beta]",
            is_error=False,
            parent_tool_call_id=None,
        )
        runtime.input("Remember that the key is ghp_0123456789abcdefghijklmnopqrstuvwxyz01.")
        runtime.input("Remember that alpha.")
        runtime.command("/mind backlog add alpha --due 30")
        clock.advance(31)
        runtime.command("/mind off")
        runtime.input("Remember that beta.")
    finally:
        runtime.close()
    assert len(screen.notices) == 4
    assert [text for text in (*screen.notices, *screen.shown) if unworded(text, "[BLOCKED: beta]", *SAID)] == []
    assert all(text.startswith("⟦") for text in (*screen.notices, *screen.shown))


class Watching(RecordingScreen):
    """Keeps what stood in the status line, too."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[str] = []

    def status(self, key: str, text: str | None) -> None:
        """Keep it."""
        del key
        self.shown += [text] if text else []
