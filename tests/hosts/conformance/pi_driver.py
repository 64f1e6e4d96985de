"""Pi: the real program in RPC mode, with the extension as ``persona install pi`` puts it there."""

from __future__ import annotations

from typing import ClassVar, Self

from tests.hosts import install
from tests.hosts.conformance.driver import Called, Driver, Json
from tests.support.pi import Pi, configure_model, pi_argv, pi_env


class PiHost(Driver):
    """One session of Pi, kept in a file."""

    name = "pi"
    lives_on = True
    version: ClassVar[str] = install.PI_VERSION

    @classmethod
    def missing(cls) -> str:
        return install.missing(cls.version)

    def start(self, *, persona: str = "", leg: bool = False) -> Self:
        world = self.world
        configure_model(world.agent_dir, world.model.url)
        if not (world.agent_dir / "extensions").exists():
            assert world.shell("install", "pi").code == 0
        more = {"PI_PERSONA_LEG": "1"} if leg else {}
        options = ["--persona", persona] if persona else []
        argv = pi_argv(*options, session_dir=world.agent_dir / "sessions" / "here", version=self.version)
        self.pi = Pi(argv, pi_env(world.environ, world.agent_dir, **more), world.project)
        return self

    def stop(self) -> int:
        code = self.pi.quit()
        self.pi.__exit__()
        return code

    def ours(self) -> list[int]:
        return self.pi.children()

    def offered(self) -> dict[str, Json]:
        self.say("hello")
        tools = self.world.model.requests[-1].body.get("tools", ())
        own = {"read", "bash", "edit", "write"}
        return {
            tool["function"]["name"]: tool["function"]["parameters"]
            for tool in tools
            if tool["function"]["name"] not in own
        }

    def say(self, text: str) -> str:
        self.pi.say(text)
        return self.world.model.requests[-1].text

    def command(self, line: str) -> str:
        before = len(self.pi.notices())
        assert self.pi.say(line) == "handled"
        return "\n".join(self.pi.notices()[before:])

    def call(self, tool: str, arguments: Json) -> Called:
        asked = self.world.task(tool, arguments)
        self.pi.say(asked)
        ended = self.pi.of("tool_execution_end")[-1]
        return Called(not ended["isError"], self.world.answered(asked).of("tool")[-1])

    def back_to(self, text: str) -> None:
        (said,) = [item for item in self.pi.command("get_fork_messages")["messages"] if item["text"] == text]
        self.pi.command("fork", entryId=said["entryId"])

    def give_up(self, arguments: Json) -> None:
        before, settled = len(self.world.model.requests), self.pi.count("agent_settled")
        self.pi.command("prompt", message=self.world.task("probe", arguments))
        self.world.model.wait(before + 2)
        self.pi.command("abort")
        self.pi.wait_for(lambda: self.pi.count("agent_settled") > settled)


class OldestPi(PiHost):
    """The oldest Pi that we support."""

    version = install.OLDEST_PI
