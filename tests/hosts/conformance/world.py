"""One person's machine for the conformance suite: a home, a model that is scripted, and what is on the disk."""

from __future__ import annotations

import itertools
import json
import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from persona_hooks.journal import JsonlJournal
from persona_hooks.tools import tools
from persona_host.headless import NoModels, StderrUi, SystemScheduler
from persona_host.runtime import Runtime, Setup
from tests.hosts.conformance.probe_plugin.probe_plugin import Probe
from tests.support.cli import Persona
from tests.support.model_server import MODEL, ModelServer, Reply, ToolCall
from tests.support.pi import children, gone
from tests.support.sweeping import shipped

if TYPE_CHECKING:
    from persona_hooks.verbs import Audience, Registry
    from persona_host.loading import Found
    from tests.support.cli import Ran
    from tests.support.model_server import Answer, Request

Json = dict[str, Any]
PLUGIN = Path(__file__).with_name("probe_plugin")
"""On the path of every process, so that the probe is an installed plugin like the shipped two."""
PAST = "past-conversation"
ASKED = "forty-two"
SLOW = "take your time"
TASK = re.compile(r"Please do task (\d+)\.$")
ID = re.compile(r"\[([0-9a-f]{12})\]")


@dataclass
class World:
    """One home with everything in it.

    Attributes:
        root: Its directory.
        model: The model of hosts that have one: it does the task that it is told, and says little otherwise.
    """

    root: Path

    def __post_init__(self) -> None:
        self.model = ModelServer(self._say)
        self.home, self.project = self.root / "home", self.root / "home" / "project"
        self.agent_dir, self.scratch = self.home / ".pi" / "agent", self.root / "tmp"
        for folder in (self.project, self.scratch):
            folder.mkdir(parents=True)
        (self.project / ".git").mkdir()
        self.environ = {
            "HOME": str(self.home),
            "USERPROFILE": str(self.home),
            "PATH": os.environ.get("PATH", ""),
            "TMPDIR": str(self.scratch),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "PI_AGENT_DIR": str(self.agent_dir),
            "PYTHONPATH": str(PLUGIN),
            "OPENAI_API_KEY": "none",
        }
        self._numbers = itertools.count(1)
        self._tasks: dict[str, ToolCall] = {}

    def _say(self, request: Request) -> Answer:
        asked = request.of("user")[-1] if request.of("user") else ""
        if not request.tools and asked.endswith(SLOW):
            return Reply("too late", delay=60.0)
        if not request.tools and asked.endswith("?"):
            return Reply(ASKED)
        # By what was asked and not by turns, since two hosts of one world ask at once.
        task = TASK.search(asked)
        if task is not None and request.messages[-1]["role"] == "user":
            return Reply(calls=(self._tasks[task[1]],))
        return Reply("Noted.")

    def task(self, tool: str, arguments: Json) -> str:
        """Return what to say so that the model calls a tool. What it is called with stands in no person's words."""
        number = str(next(self._numbers))
        self._tasks[number] = ToolCall(tool, arguments)
        return f"Please do task {number}."

    def answered(self, asked: str) -> Request:
        """Return the last request of the run that began with ``asked``."""
        of_it = [request for request in self.model.requests if any(said.endswith(asked) for said in request.of("user"))]
        return of_it[-1]

    def configure(self) -> None:
        """Write the settings that name the scripted model."""
        settings = {"models": {"default": {"model": f"openai:{MODEL}", "baseUrl": self.model.url}}}
        path = self.agent_dir / "persona" / "settings.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings), encoding="utf-8")

    def fact(self, about: str = "harbour") -> str:
        """Return a sentence that nobody has said yet."""
        number = next(self._numbers)
        return f"The {about} has {number * 7 + 100} berths on pier {number}."

    def shell(self, *words: str) -> Ran:
        """Run ``persona`` in the project, as a process of its own."""
        return Persona(self.environ, self.project)(*words)

    def brief(self, name: str) -> None:
        """Write a persona."""
        folder = self.agent_dir / "persona" / "personas"
        folder.mkdir(parents=True, exist_ok=True)
        text = f"---\nname: {name}\npersona: true\ndescription: tests\n---\nYou are {name}.\n"
        (folder / f"{name}.md").write_text(text, encoding="utf-8")

    @cached_property
    def turn(self) -> tuple[str, str]:
        """A turn of a past conversation: session and turn."""
        path = self.agent_dir / "persona-host" / "sessions" / "past" / f"{PAST}.jsonl"
        journal = JsonlJournal(path, PAST, self.project)
        return PAST, journal.message("user", "The lighthouse was painted in May.", persona=None).id

    def rows(self) -> dict[str, dict[str, Json]]:
        """Return what every document of the profile holds: by row's id, by file."""
        found: dict[str, dict[str, Json]] = {}
        root = self.agent_dir / "persona-mind"
        for path in sorted([*root.glob("memory/**/*.json"), *root.glob("backlog/*.json")]):
            for row in json.loads(path.read_bytes())["entries"]:
                found.setdefault(row["id"], {})[str(path.relative_to(root))] = row
        return found

    def logged(self) -> str:
        """Return every session log that hosts have written."""
        logs = [*self.agent_dir.glob("persona-host/sessions/**/*.jsonl"), *self.agent_dir.glob("sessions/**/*.jsonl")]
        return "\n".join(path.read_text(encoding="utf-8") for path in sorted(logs))

    def processes(self) -> list[int]:
        """Return the process ids below this one."""
        found, left = [], [os.getpid()]
        while left:
            below = children(left.pop())
            found += below
            left += below
        return found

    def schemas(self, audience: Audience) -> dict[str, Json]:
        """Return every tool of the registry with its schema, as the plugins in this world register them."""
        return {tool.name: tool.parameters for tool in tools(self.registry, audience)}

    @cached_property
    def registry(self) -> Registry:
        """What is registered here."""
        return registry_of()


def registry_of() -> Registry:
    """Return the registry of the shipped plugins with the probe."""

    def plugins() -> Found:
        return [*shipped(), ("probe", lambda: Probe)]

    home = Path("/nonexistent")
    setup = Setup("conformance", home / "agent", home, {}, plugins=plugins)
    return Runtime.start(setup, ui=StderrUi(), models=NoModels(), scheduler=SystemScheduler()).registry


def ended(pids: list[int]) -> bool:
    """Whether all these processes have ended, or end soon."""
    return all(gone(pid) for pid in pids)
