"""Claude Code's side of its hooks: documented payloads in, what the real ``persona hook`` prints out."""

from __future__ import annotations

import json
import os
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from persona_host.adapters.claude_code import rendezvous
from tests.support.cli import CHILD, PERSONA

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]

SPECIFIC: dict[str, Json] = {
    "SessionStart": {"source": "startup", "model": "claude-sonnet-5"},
    "UserPromptSubmit": {"permission_mode": "default", "prompt": "Which port does the staging database use?"},
    "UserPromptExpansion": {
        "permission_mode": "default",
        "expansion_type": "slash_command",
        "command_name": "persona:mind",
        "command_args": "",
        "command_source": "plugin",
        "prompt": "/persona:mind",
    },
    "PreCompact": {"trigger": "manual", "custom_instructions": ""},
    "SessionEnd": {"reason": "other"},
}
"""What each event has beside the common fields, as the hooks reference shows it."""


@dataclass(frozen=True)
class Hooked:
    """What a hook left: its status, its output, its errors."""

    code: int
    out: bytes
    err: str

    @property
    def json(self) -> Json:
        """Standard output as a JSON object; empty where nothing was printed."""
        value: Json = json.loads(self.out) if self.out else {}
        return value

    @property
    def context(self) -> str:
        """What the model is given."""
        return str(self.json.get("hookSpecificOutput", {}).get("additionalContext", ""))

    @property
    def shown(self) -> str:
        """What the person is shown beside the conversation."""
        return str(self.json.get("systemMessage", ""))


@dataclass(frozen=True)
class ClaudeCode:
    """One Claude Code session of a person.

    Attributes:
        environ: The environment that hooks and server get.
        project: The directory that it was started in.
        session: Its id.
    """

    environ: dict[str, str]
    project: Path
    session: str = "00893aaf-19fa-41d2-8238-13269b9b3ca0"
    more: dict[str, str] = field(default_factory=dict)

    def payload(self, event: str, **fields: Any) -> Json:  # noqa: ANN401 - JSON values
        """Return the documented JSON of an event."""
        common = {
            "session_id": self.session,
            "transcript_path": f"{self.environ['HOME']}/.claude/projects/p/{self.session}.jsonl",
            "cwd": str(self.project),
            "hook_event_name": event,
        }
        return {**common, **SPECIFIC[event], **fields}

    def hook(self, event: str, payload: bytes | None = None, **fields: Any) -> Hooked:  # noqa: ANN401 - JSON values
        """Run the hook of an event with its documented payload, or with other bytes."""
        return self._run([str(PERSONA), "hook", event], event, payload, fields)

    def by_shell(self, command: str, event: str, **fields: Any) -> Hooked:  # noqa: ANN401 - JSON values
        """Run the command of a hook as Claude Code does: by a shell."""
        return self._run(["/bin/sh", "-c", command], event, None, fields)

    def _run(self, argv: list[str], event: str, payload: bytes | None, fields: Json) -> Hooked:
        data = json.dumps(self.payload(event, **fields)).encode() if payload is None else payload
        done = subprocess.run(
            argv, input=data, capture_output=True, env=self.env, cwd=self.project, timeout=60, check=False
        )
        return Hooked(done.returncode, done.stdout, done.stderr.decode())

    def say(self, prompt: str, **fields: Any) -> Hooked:  # noqa: ANN401 - JSON values
        """Submit a prompt."""
        return self.hook("UserPromptSubmit", prompt=prompt, **fields)

    @property
    def env(self) -> dict[str, str]:
        """The environment of hooks and server."""
        return {**self.environ, **CHILD, "CLAUDE_PROJECT_DIR": str(self.project), **self.more}

    @property
    def agent_dir(self) -> Path:
        """The agent directory."""
        return Path(self.environ["PI_AGENT_DIR"])

    def remembered(self) -> list[Json]:
        """Return the rows of the private facts of nobody in particular."""
        path = self.agent_dir / "persona-mind" / "memory" / "ltm" / "_default.json"
        return list(json.loads(path.read_bytes())["entries"]) if path.exists() else []

    @property
    def folder(self) -> Path:
        """Where sockets are."""
        return Path(rendezvous.folder(rendezvous.agent_dir(self.environ)))

    @property
    def socket(self) -> Path:
        """The socket of the server that this process starts."""
        root = rendezvous.agent_dir(self.environ)
        return self.folder / rendezvous.name(rendezvous.identity(root, self.env), os.getpid())

    @contextmanager
    def server(self, *options: str) -> Iterator[subprocess.Popen[bytes]]:
        """Run the MCP server as Claude Code starts it, until its standard input is closed."""
        process = subprocess.Popen(
            [str(PERSONA), "mcp", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self.env,
            cwd=self.project,
        )
        try:
            if not options:
                until(lambda: self.socket.exists() or process.poll() is not None)
            yield process
        finally:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.close()
            process.wait(20)
            process.stdout.close()


def until(ready: Any, seconds: float = 30.0) -> None:  # noqa: ANN401 - a callable
    """Wait until ``ready()`` holds."""
    deadline = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < deadline, "what was waited for did not come"
        time.sleep(0.01)
