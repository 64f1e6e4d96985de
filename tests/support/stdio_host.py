"""A host's end of ``persona stdio``: starts the real child process and plays the host's side of the protocol."""

from __future__ import annotations

import itertools
import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Json = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]


class Refusal(Exception):  # noqa: N818 - the other side's answer, not a fault of ours
    """The child answered with an error."""

    def __init__(self, error: Json) -> None:
        super().__init__(error.get("message"))
        self.code: int = error["code"]
        self.data: Json = error.get("data") or {}


class StdioHost:
    """The host: a child process, a session log in memory, and what the child has sent so far.

    Attributes:
        entries: The session log.
        notices: The notifications that came, as (method, params).
        asked: The child's requests that were answered, as (method, params).
        stray: Lines that were no message.
        stall: Methods of the host's that are not answered.
    """

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        self.entries: list[Json] = []
        self.notices: list[tuple[str, Json]] = []
        self.asked: list[tuple[str, Json]] = []
        self.stray: list[bytes] = []
        self.stall: set[str] = set()
        self.answers: dict[str, Callable[[Json], Json]] = {
            "session.append": self._append,
            "session.entries": self._entries,
        }
        self._ids = itertools.count(1)
        self._waiting: dict[int, queue.SimpleQueue[Json]] = {}
        self._changed = threading.Condition()
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(env), cwd=cwd
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue

    @property
    def leaf(self) -> str | None:
        """The log's last entry."""
        return self.entries[-1]["id"] if self.entries else None

    def initialize(self, **more: Any) -> Json:  # noqa: ANN401 - wire values
        """Open session ``s1`` and return the greeting."""
        params: Json = {
            "protocol": 1,
            "manifest": "",
            "host": {"name": "test", "lacks": []},
            "nonce": "n1",
            "generation": 1,
            "sessionId": "s1",
            "sessionFile": None,
            "cwd": str(ROOT),
            "leaf": None,
            "reason": "startup",
            "trusted": False,
        }
        return self.call("initialize", {**params, **more})

    def start(self, method: str, params: Mapping[str, Any]) -> int:
        """Send a request; return its id for ``result``."""
        number = next(self._ids)
        self._waiting[number] = queue.SimpleQueue()
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number

    def result(self, number: int, seconds: float = 30.0) -> Json:
        """Return the answer to a request; raise ``Refusal`` if it is an error, ``queue.Empty`` if none comes."""
        message = self._waiting[number].get(timeout=seconds)
        if "error" in message:
            raise Refusal(message["error"])
        return dict(message["result"])

    def call(self, method: str, params: Mapping[str, Any] | None = None, seconds: float = 30.0) -> Json:
        """Send a request and return its answer."""
        return self.result(self.start(method, params or {}), seconds)

    def tell(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params or {}})

    def send(self, message: Json) -> None:
        """Send one message."""
        self.write(json.dumps(message).encode() + b"\n")

    def write(self, data: bytes) -> None:
        """Send bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def close(self, seconds: float = 20.0) -> tuple[int, str]:
        """Close our end; return the child's exit code and what it wrote to standard error."""
        assert self.process.stdin is not None
        assert self.process.stderr is not None
        self.process.stdin.close()
        code = self.process.wait(seconds)
        return code, self.process.stderr.read().decode()

    def wait_for(self, ready: Callable[[], object], seconds: float = 20.0) -> None:
        """Wait until ``ready()`` holds; it is asked again after each message."""
        with self._changed:
            assert self._changed.wait_for(ready, seconds), "what was waited for did not come"

    def noticed(self, method: str) -> list[Json]:
        """Return the parameters of each notification of one method."""
        return [params for name, params in self.notices if name == method]

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                self.stray.append(line)
                continue
            if "method" not in message:
                if message["id"] in self._waiting:
                    self._waiting[message["id"]].put(message)
            elif "id" in message:
                self._answer(message)
            else:
                self.notices.append((message["method"], message["params"]))
            with self._changed:
                self._changed.notify_all()

    def _answer(self, message: Json) -> None:
        self.asked.append((message["method"], message["params"]))
        if message["method"] in self.stall:
            return
        try:
            answer: Json = {"result": self.answers[message["method"]](message["params"])}
        except LookupError as error:
            answer = {"error": {"code": -32000, "message": "no", "data": {"reason": str(error.args[0])}}}
        self.send({"jsonrpc": "2.0", "id": message["id"], **answer})

    def _append(self, params: Json) -> Json:
        guard = params["guard"]
        if (guard["nonce"], guard["generation"], guard["sessionId"]) != ("n1", 1, "s1"):
            raise LookupError("stale_session")
        if "leaf" in guard and guard["leaf"] != self.leaf:
            raise LookupError("branch_moved")
        entry = {
            "id": f"e{len(self.entries) + 1}",
            "parentId": self.leaf,
            "timestamp": "2026-01-01T00:00:00Z",
            "type": "custom",
            "customType": params["customType"],
            "data": params["data"],
        }
        self.entries.append(entry)
        return {"entry": entry, "durable": False}

    def _entries(self, params: Json) -> Json:
        since = params["since"] if params["since"] <= len(self.entries) else 0
        return {"since": since, "entries": self.entries[since:], "leaf": self.leaf}


def python_env(home: Path, **more: str) -> dict[str, str]:
    """Return a clean environment for a child: its own home and agent directory, and this checkout."""
    env = {name: os.environ[name] for name in ("PATH", "LANG", "SYSTEMROOT") if name in os.environ}
    env |= {"HOME": str(home), "PI_AGENT_DIR": str(home / ".pi" / "agent"), "PYTHONPATH": str(ROOT)}
    return env | more


def interpreter() -> str:
    """Return the interpreter that runs the tests."""
    return sys.executable
