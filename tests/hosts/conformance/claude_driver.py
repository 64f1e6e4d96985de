"""Claude Code: the documented payloads through ``persona hook``, and the MCP server that its plugin names."""

from __future__ import annotations

import json
import uuid
from contextlib import ExitStack
from typing import Self

from anyio.from_thread import start_blocking_portal

from tests.hosts.conformance.mcp_driver import Mcp
from tests.support.claude_code import ClaudeCode, Hooked, until


class Claude(Mcp):
    """One session: hooks as it runs them, tools as it calls them."""

    name = "claude-code"
    keeps_log = True

    def start(self, *, persona: str = "", leg: bool = False) -> Self:
        more = {"PI_PERSONA_LEG": "1"} if leg else {}
        more |= {"PI_PERSONA_DEFAULT": persona} if persona else {}
        self._claude = ClaudeCode(self.world.environ, self.world.project, str(uuid.uuid4()), more)
        assert self.world.shell("install", "claude-code").code == 0
        plugin = self.world.home / ".claude" / "skills" / "persona-mind"
        server = json.loads((plugin / ".mcp.json").read_bytes())["mcpServers"]["persona-mind"]
        before = set(self.world.processes())
        self._stack = ExitStack()
        self._portal = self._stack.enter_context(start_blocking_portal())
        self._client = self._stack.enter_context(
            self._portal.wrap_async_context_manager(
                self._connected([server["command"], *server["args"]], self._claude.env | self.world.environ)
            )
        )
        self._ours = [pid for pid in self.world.processes() if pid not in before]
        until(lambda: any(self._claude.folder.iterdir()))
        self._hook("SessionStart", source="startup")
        return self

    def stop(self) -> int:
        code = self._hook("SessionEnd").code
        super().stop()
        return code

    def use(self, persona: str) -> None:
        self.command(f"/persona use {persona}")

    def say(self, text: str) -> str:
        return f"{self._hook('UserPromptSubmit', prompt=text).context}\n{text}"

    def command(self, line: str) -> str:
        done = self._hook("UserPromptSubmit", prompt=line)
        assert done.json["decision"] == "block"
        return str(done.json["reason"])

    def _hook(self, event: str, **fields: str) -> Hooked:
        done = self._claude.hook(event, None, **fields)
        assert (done.code, done.err) == (0, "")
        return done
