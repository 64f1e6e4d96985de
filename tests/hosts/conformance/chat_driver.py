"""The embedded host: ``persona chat`` as a child process, talked to over its pipes."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from tests.hosts.conformance.driver import Called, Driver, Json
from tests.support.cli import CHILD, PERSONA

if TYPE_CHECKING:
    from tests.hosts.conformance.world import World

ENDS = frozenset({"answer", "reply", "error", "no_model", "handled"})
"""The outcomes after which the next line is read."""


class Chat(Driver):
    """One conversation; a lost one is gone on with."""

    name = "embedded"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._outcomes: list[Json] = []
        self._changed = threading.Condition()

    def start(self, *, persona: str = "", leg: bool = False) -> Self:
        self.world.configure()
        env = {**self.world.environ, **CHILD, **({"PI_PERSONA_LEG": "1"} if leg else {})}
        env["PYTHONPATH"] = f"{self.world.environ['PYTHONPATH']}:{CHILD['PYTHONPATH']}"
        argv = [str(PERSONA), "chat", "--json", *(["--persona", persona] if persona else [])]
        self.process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
            cwd=self.world.project,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def stop(self) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        code = self.process.wait(30)
        self._reader.join()
        self.process.stdout.close()
        return code

    def ours(self) -> list[int]:
        return [self.process.pid]

    def offered(self) -> dict[str, Json]:
        self.say("hello")
        return {tool["function"]["name"]: tool["function"]["parameters"] for tool in self._last().get("tools", ())}

    def say(self, text: str) -> str:
        self._line(text)
        return self.world.model.requests[-1].text

    def command(self, line: str) -> str:
        return "\n".join(outcome["text"] for outcome in self._line(line))

    def call(self, tool: str, arguments: Json) -> Called:
        asked = self.world.task(tool, arguments)
        (outcome,) = [outcome for outcome in self._line(asked) if outcome["kind"] == "tool"]
        return Called(outcome["ok"], self.world.answered(asked).of("tool")[-1])

    def back_to(self, text: str) -> None:
        entries = [json.loads(line) for line in self.world.logged().splitlines() if line]
        (entry,) = [item for item in entries if item.get("data", {}).get("content") == text]
        self.command(f"/tree {entry['id']}")

    def give_up(self, arguments: Json) -> None:
        before = len(self.world.model.requests)
        self._write(self.world.task("probe", arguments))
        self.world.model.wait(before + 2)
        self.process.send_signal(signal.SIGINT)
        assert self.stop() == 130  # lines from a pipe end with Ctrl-C, in order
        self.start()

    def _line(self, text: str) -> list[Json]:
        before = len(self._outcomes)
        self._write(text)
        with self._changed:
            assert self._changed.wait_for(lambda: self._done(before), 40), self._outcomes[before:]
        return self._outcomes[before:]

    def _done(self, before: int) -> bool:
        return self.process.poll() is not None or any(outcome["kind"] in ENDS for outcome in self._outcomes[before:])

    def _write(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def _last(self) -> Json:
        return self.world.model.requests[-1].body

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._changed:
                self._outcomes.append(json.loads(line))
                self._changed.notify_all()
        with self._changed:
            self._changed.notify_all()
