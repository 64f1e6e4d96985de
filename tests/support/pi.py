"""The real Pi in RPC mode, with its own home, against a scripted model."""

from __future__ import annotations

import itertools
import json
import queue
import subprocess
import threading
import time
from typing import TYPE_CHECKING, Any, Self

from persona_host.adapters.pi.files import CONFIG, MANIFEST, bundle_files, config_text
from tests.hosts import install
from tests.support.model_server import MODEL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

Json = dict[str, Any]


def install_extension(agent_dir: Path, *, python: Path | None, manifest: str) -> Path:
    """Put the extension where Pi finds it by itself; return its folder."""
    folder = agent_dir / "extensions" / "persona-mind"
    folder.mkdir(parents=True, exist_ok=True)
    made = {MANIFEST: manifest, **({CONFIG: config_text(python)} if python else {})}
    for name, text in {**bundle_files(), **made}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def configure_model(agent_dir: Path, url: str) -> None:
    """Make the scripted model known to Pi as ``stub/scripted-1``."""
    provider = {"baseUrl": url, "api": "openai-completions", "apiKey": "none", "models": [{"id": MODEL}]}
    agent_dir.mkdir(parents=True, exist_ok=True)
    (agent_dir / "models.json").write_text(json.dumps({"providers": {"stub": provider}}), encoding="utf-8")


def pi_argv(*arguments: str, session_dir: Path | None = None, version: str = install.PI_VERSION) -> list[str]:
    """Return Pi's command line for the scripted model."""
    kept = ["--no-session"] if session_dir is None else ["--session-dir", str(session_dir)]
    program = [str(install.node(version)), str(install.pi_program(version))]
    return [*program, "--provider", "stub", "--model", MODEL, *kept, *arguments]


def pi_env(environ: Mapping[str, str], agent_dir: Path, **more: str) -> dict[str, str]:
    """Return the environment in which Pi runs offline, on a machine that may be busy."""
    offline = {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0", "PERSONA_PATIENCE_MS": "30000"}
    return {**environ, **offline, "PI_CODING_AGENT_DIR": str(agent_dir), **more}


class Pi:
    """One running Pi.

    Attributes:
        events: Every line that was no answer, in order.
        process: The process.
    """

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        self.events: list[Json] = []
        self._ids = itertools.count(1)
        self._waiting: dict[str, queue.SimpleQueue[Json]] = {}
        self._changed = threading.Condition()
        self._stderr: list[str] = []
        self.process = subprocess.Popen(
            [*argv, "--mode", "rpc"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(env),
            cwd=cwd,
        )
        self._threads = [threading.Thread(target=run, daemon=True) for run in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            try:
                self.quit()
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for thread in self._threads:
            thread.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None and not stream.closed:
                stream.close()

    @property
    def stderr(self) -> str:
        """What Pi has written to standard error."""
        return "".join(self._stderr)

    def command(self, kind: str, seconds: float = 40.0, **fields: Any) -> Json:  # noqa: ANN401 - wire values
        """Send an RPC command; return its answer's data."""
        number = f"t{next(self._ids)}"
        self._waiting[number] = queue.SimpleQueue()
        self.send({"id": number, "type": kind, **fields})
        try:
            answer = self._waiting[number].get(timeout=seconds)
        except queue.Empty:
            raise TimeoutError(f"Pi did not answer {kind}: {self.stderr[-2000:]}") from None
        assert answer["success"], answer
        return dict(answer.get("data") or {})

    def send(self, message: Json) -> None:
        """Send one line."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def say(self, text: str) -> str:
        """Send a prompt; wait until the run has settled, if one began. Return the disposition."""
        before = self.count("agent_settled")
        disposition = str(self.command("prompt", message=text).get("disposition"))
        if disposition != "handled":
            self.wait_for(lambda: self.count("agent_settled") > before)
        return disposition

    def of(self, kind: str) -> list[Json]:
        """Return the events of one type."""
        return [event for event in list(self.events) if event["type"] == kind]

    def count(self, kind: str) -> int:
        """Return how many events of one type came."""
        return len(self.of(kind))

    def notices(self) -> list[str]:
        """Return what was shown to the person."""
        return [event["message"] for event in self.of("extension_ui_request") if event["method"] == "notify"]

    def entries(self) -> list[Json]:
        """Return the session's entries."""
        return list(self.command("get_entries")["entries"])

    def wait_for(self, ready: Callable[[], object], seconds: float = 40.0) -> None:
        """Wait until ``ready()`` holds; it is asked again after each line."""
        with self._changed:
            assert self._changed.wait_for(ready, seconds), f"it did not come: {self.stderr[-2000:]}"

    def children(self) -> list[int]:
        """Return the process ids of Pi's children."""
        return children(self.process.pid)

    def quit(self, seconds: float = 20.0) -> int:
        """Close Pi's input, which ends it in order; return its exit code."""
        assert self.process.stdin is not None
        if not self.process.stdin.closed:
            self.process.stdin.close()
        return self.process.wait(seconds)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            if message["type"] == "response" and message.get("id") in self._waiting:
                self._waiting[message["id"]].put(message)
            else:
                self.events.append(message)
            with self._changed:
                self._changed.notify_all()
        with self._changed:
            self._changed.notify_all()

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._stderr.append(line.decode(errors="replace"))


def children(pid: int) -> list[int]:
    """Return the process ids of ``pid``'s children that still run."""
    listing = subprocess.run(["ps", "-eo", "pid=,ppid=,stat="], capture_output=True, text=True, check=True)  # noqa: S607
    rows = [line.split() for line in listing.stdout.splitlines()]
    return [int(child) for child, parent, state in rows if int(parent) == pid and not state.startswith("Z")]


def gone(pid: int, seconds: float = 20.0) -> bool:
    """Whether a process has ended, or ends within ``seconds``."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        listing = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)  # noqa: S607
        if not listing.stdout.strip() or listing.stdout.strip().startswith("Z"):
            return True
        time.sleep(0.02)
    return False
