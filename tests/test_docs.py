"""The documentation as a test: what can be used, stored or set is written down, and what is written down is there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import persona_mind
from persona_hooks import logfile, messages, work
from persona_hooks.errors import CorruptError
from persona_hooks.journal import MemoryJournal
from persona_hooks.logformat import MAX_LINE, MAX_LOG
from persona_hooks.messages import Closed, Message, Setting
from persona_hooks.policies import POLICIES, Policy
from persona_hooks.ports import Capabilities, Host
from persona_hooks.runner import OVERRUNS, PENDING
from persona_hooks.specs import HookSpecs
from persona_host.adapters.mcp import kept
from persona_host.headless import headless_runtime
from persona_mind.migration.manifest import Manifest
from persona_store import backup, diagnostics, restoration
from persona_store.standing_lock import StandingLock
from persona_store.transaction import Profile
from tests.support.crash import documents
from tests.support.crash.battery import child

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from persona_host.runtime import Runtime

MESSAGES = (*messages.MESSAGES, *work.MESSAGES)
DOCS = Path(__file__).parents[1] / "docs"
HOOKS = (DOCS / "hooks.md").read_text("utf-8")
FILES = (DOCS / "files.md").read_text("utf-8")
ROOT = DOCS.parent
MOMENT = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


def table(heading: str, page: str = HOOKS) -> dict[str, list[str]]:
    """Return the rows of the table under a heading, by each code cell that they begin with."""
    section = re.split(r"^## ", page.partition(f"\n## {heading}\n")[2], flags=re.MULTILINE)[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"]
    return {code(cell): row for row in rows for cell in row if cell.startswith("`")}


def code(cell: str) -> str:
    return cell.strip("`")


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def on_failure(policy: Policy) -> str:
    return "out" if policy.vital else "closed" if policy.closed else "open"


def arguments(hook: str) -> list[str]:
    function = getattr(HookSpecs, hook)
    return list(function.__code__.co_varnames[1 : function.__code__.co_argcount])


@pytest.mark.parametrize("hook", list(POLICIES))
def test_every_hook_is_documented_with_its_arguments_and_policy(hook: str) -> None:
    _, listed, _, mode, budget, failure = table("Hooks")[hook]
    policy = POLICIES[hook]
    assert names(listed) == arguments(hook)
    assert (mode, float(budget), failure) == (policy.mode, policy.budget, on_failure(policy))


def test_no_hook_is_documented_that_does_not_exist() -> None:
    hooks = {name for name, row in table("Hooks").items() if code(row[0]) == name}
    assert hooks == set(POLICIES)


@pytest.mark.parametrize("message", [*MESSAGES, Setting], ids=lambda message: message.__name__)
def test_every_message_is_documented_with_its_fields(message: type[Message]) -> None:
    rows = table("Channels")
    _, name, fields, closed = rows[message.__name__]
    assert code(name) == message.__name__
    assert names(fields) == [info.alias for info in message.model_fields.values()]
    assert (closed == "yes") == issubclass(message, Closed)


@pytest.mark.parametrize("channel", sorted({message.channel for message in MESSAGES}))
def test_every_channel_is_documented_beside_its_first_message(channel: str) -> None:
    first = next(message for message in MESSAGES if message.channel == channel)
    assert names(table("Channels")[first.__name__][0]) == [channel]


def test_every_port_and_capability_is_documented() -> None:
    assert set(table("Ports")) == set(Capabilities._fields)
    section = HOOKS.partition("\n## Ports\n")[2]
    assert set(Host._fields) <= set(names(section))


def test_the_numbers_in_the_text_are_those_of_the_code() -> None:
    assert (OVERRUNS, PENDING, messages.CONTRACT) == (3, 64, 1)
    assert f"{MAX_LINE >> 20} MiB long, a log {MAX_LOG >> 20} MiB" in HOOKS
    assert "after three overruns in a row" in HOOKS
    assert f"at most {PENDING}" in HOOKS
    assert f"companion of contract {messages.CONTRACT}" in HOOKS


# --- verbs, settings, files


@pytest.fixture
def runtime(environ: dict[str, str], agent_dir: Path, home: Path) -> Iterator[Runtime]:
    """The shipped plugins with an open session."""
    runtime = headless_runtime(agent_dir=agent_dir, home=home, environ=environ)
    runtime.open(MemoryJournal("s"), session_id="s", cwd=home)
    yield runtime
    runtime.close()


def test_every_verb_is_documented(runtime: Runtime) -> None:
    documented = re.findall(r"^## `([a-z_.]+)`$", (DOCS / "commands.md").read_text("utf-8"), re.MULTILINE)
    assert documented == [verb.name for verb in runtime.registry]


def test_every_setting_is_documented_with_its_default(runtime: Runtime) -> None:
    rows = table("Settings", FILES)
    for key, setting in runtime.settings().items():
        assert names(rows[key][1]) == [json.dumps(setting.value)]


def test_every_variable_that_is_read_is_documented() -> None:
    packages = ("hooks", "persona_store", "persona_companion", "persona_mind", "persona_host")
    sources = [path.read_text("utf-8") for package in packages for path in (ROOT / package).rglob("*.py")]
    read = {name for source in sources for name in re.findall(r"\"((?:PI|PERSONA|CLAUDE)_[A-Z_]+)\"", source)}
    documented = {name for row in table("Environment", FILES).values() for name in names(row[0])}
    assert read - documented == set()
    assert documented - {"NO_COLOR"} <= read


STANDS_FOR = {
    "<document>": r"persona-mind/(?:[^/.][^/]*/)*[^/.][^/]*\.json",
    "<folder>": r"[^/]+(?:/[^/]+)*",
    "<file>": r"[^/.][^/]*",
    "<random>": r"[0-9a-f]+",
    "<number>": r"\d+",
}


def shapes(section: str) -> dict[str, re.Pattern[str]]:
    """Return what the paths in the first column of some tables look like; a folder stands for all below it."""
    paths = [
        path for line in section.splitlines() if line[:3] == "| `" for path in names(line.strip("|").split("|", 1)[0])
    ]
    found = {}
    for path in paths:
        pieces = (STANDS_FOR.get(piece, "[^/]+") if piece[:1] == "<" else re.escape(piece) for piece in cut(path))
        found[path] = re.compile("".join(pieces) + (".+" if path.endswith("/") else ""))
    return found


def cut(path: str) -> list[str]:
    return re.split(r"(<\w+>)", path)


ALL_FILES = FILES.partition("\n## Files\n")[2].partition("\n## ")[0].partition("\n### What stands in a host's log\n")[0]
BESIDE = ALL_FILES.partition("\n### Beside them\n")[2]


def below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def undocumented(agent_dir: Path) -> set[str]:
    known = shapes(ALL_FILES).values()
    return {path for path in below(agent_dir) if not any(shape.fullmatch(path) for shape in known)}


def _cut_off(call: str, work: Callable[[], object]) -> None:
    """Do something in a process that ends where it first makes a call."""

    def run() -> None:
        setattr(os, call, lambda *_, **__: os._exit(9))
        work()

    assert child(run).word == "died"


def _mishaps(agent_dir: Path, home: Path) -> None:
    """Let everything happen that leaves a file beside another one."""
    root = agent_dir / "persona-mind"
    with persona_mind.open(agent_dir, cwd=home, persona="Ann", home=home) as mind:
        for number in range(3):
            mind.remember(f"The harbour has {number} cranes.", scope="persona")
        for number in range(2):
            mind.erase(mind.remember(f"The secret number is {number}.", scope="persona").id)
        facts = root / "memory/ltm/Ann.json"
        facts.unlink()  # an erasure left it and its previous version one file
        facts.write_bytes(b"torn")
        (root / ".locks/memory.transaction").write_bytes(b"held ho")
        mind.remember("The harbour has a crane more.", scope="persona")
    diagnostics.flush(root, [diagnostics.Note("2026-03-02T09:30:00.000Z", "recovered_empty", "x" * 1000)] * 66)
    diagnostics.flush(root, [diagnostics.Note("2026-03-02T09:30:00.000Z", "recovered_empty", "x")])
    for number in range(2):
        Manifest(Profile(root, lambda: MOMENT)).note([{"id": f"{number}"}])
    StandingLock(root, "backlog/app.json.reminders").take()
    documents.add(agent_dir, "a", "memory/ltm/Bob.json")
    _cut_off("rename", lambda: documents.add(agent_dir, "b", "memory/ltm/Bob.json"))
    keeping = kept.keeping(agent_dir / "persona-host", 1, "http://127.0.0.1:1", "token")
    _cut_off("replace", lambda: ExitStack().enter_context(keeping))
    saved = backup.backup(Profile(root, lambda: MOMENT), home / "saved")
    (root / "profile.key").write_bytes(b"torn")
    restoration.restore(Profile(root, lambda: MOMENT), saved, lambda _: None)
    shutil.rmtree(root / "backups")
    (root / "backups").mkdir()
    _cut_off("rename", lambda: backup.backup(Profile(root, lambda: MOMENT), root / "backups/daily-2026-03-02"))
    _cut_off("link", lambda: logfile.create(agent_dir / "persona-host/sessions/app/s.jsonl", b"{}\n"))
    # The original's own are laid by hand, and so is a damaged previous version beside a damaged one.
    (root / "backlog").mkdir()
    (root / "backlog/app.json.wakeowner").touch()
    facts.with_name("Ann.json.lock").touch()
    torn = root / "memory/ltm/Cy.json"
    for path in (torn, torn.with_name("Cy.json.bak")):
        path.write_bytes(b"torn")
    with pytest.raises(CorruptError):
        documents.add(agent_dir, "a", "memory/ltm/Cy.json")


def test_every_file_that_a_mishap_leaves_is_documented(agent_dir: Path, home: Path) -> None:
    _mishaps(agent_dir, home)
    written = below(agent_dir)

    assert undocumented(agent_dir) == set()
    added = ("diagnostics", ".locks/", "legacy", "tombstones", "profile.key")
    listed = {path: shape for path, shape in shapes(ALL_FILES).items() if any(word in path for word in added)}
    documented = {path: shape for path, shape in (listed | shapes(BESIDE)).items() if path[:8] != "persona/"}
    assert {path for path, shape in documented.items() if not any(map(shape.fullmatch, written))} == set()


def test_a_lock_is_as_long_as_is_said(agent_dir: Path, home: Path) -> None:
    _mishaps(agent_dir, home)
    sizes = {path.name: path.stat().st_size for path in (agent_dir / "persona-mind/.locks").iterdir()}

    assert {name for name, size in sizes.items() if size == 0} == {"backlog!app.json.reminders.standing"}
    assert {size for name, size in sizes.items() if ".malformed." not in name} == {0, 256}
    assert "one line of 256 bytes on who holds it" in ALL_FILES


def test_every_file_that_is_written_is_documented(environ: dict[str, str], agent_dir: Path, home: Path) -> None:
    project = home / "work"
    (project / ".git").mkdir(parents=True)
    persona = agent_dir / "persona" / "personas" / "ann" / "brief.yml"
    persona.parent.mkdir(parents=True)
    persona.write_text("name: Ann\nsystem_prompt: You are Ann.\n", "utf-8")
    said = ["Remember that the staging database listens on port 5433.", "/persona use Ann", "/persona none", "Hello."]
    commands = [["chat", "--json", *(word for text in said for word in ("--once", text))]]
    commands += [
        ["tool", "memory", json.dumps({"action": "remember", "text": f"Fact {number} lasts.", "scope": scope})]
        for scope in ("persona", "shared", "project", "stm")
        for number in range(2)
    ]
    for command in commands:
        program = [sys.executable, "-m", "persona_host.cli", *command]
        subprocess.run(program, cwd=project, env=environ, check=True, capture_output=True)
    written = {str(path.relative_to(agent_dir)) for path in agent_dir.rglob("*") if path.is_file()}
    assert undocumented(agent_dir) == set()
    assert {path.partition("/")[0] for path in written} == {"persona", "persona-mind", "persona-host"}
