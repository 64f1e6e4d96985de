"""Real kills by the kernel: SIGKILL at every system call that touches files, and cuts through a real ext4 disk."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from persona_hooks.errors import PersonaError
from persona_store import holders
from tests.support.crash.battery import child, copied, untidy
from tests.support.crash.checks import scratch
from tests.support.crash.documents import add, ids

if TYPE_CHECKING:
    from collections.abc import Iterator

CALLS = (
    "openat,write,writev,pwrite64,fsync,rename,renameat,renameat2,linkat,unlinkat,mkdirat,mkdir,ftruncate,flock,utimensat,"
    "close,read,pread64"
)
PROJECT = Path(__file__).resolve().parents[3]
WRITER = """
import os, sys
from pathlib import Path
from tests.support.crash.documents import add
root = Path(sys.argv[1])
import filelock, pydantic_core
os.write(2, b"BEGIN\\n")
for number in range(int(sys.argv[2])):
    add(root, f"w{number}")
    os.write(1, f"w{number}\\n".encode())
"""


@dataclass
class Cuts:
    """How many points were tried, at how many the process was really killed, and what was wrong."""

    points: int = 0
    killed: int = 0
    violations: list[str] = field(default_factory=list)


def has_strace() -> bool:
    """Whether strace is there and may trace."""
    strace = shutil.which("strace")
    return strace is not None and subprocess.run([strace, "-o", os.devnull, "true"], check=False).returncode == 0


def _strace(root: Path, adds: int, *options: str) -> subprocess.CompletedProcess[bytes]:
    # Never with --seccomp-bpf, which turns injection off without a word.
    command = ["strace", "-f", "-qq", *options, sys.executable, "-c", WRITER, str(root), str(adds)]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, check=False)


def every_system_call(adds: int = 3) -> Cuts:
    """Kill the writer at each file system call it makes once it has begun."""
    base = scratch()
    template = base / "template"
    template.mkdir(mode=0o700)
    add(template, "before")
    cuts = Cuts()
    for call, count in _points(base, template, adds):
        with copied(template, base) as root:
            done = _strace(
                root, adds, "-o", os.devnull, "-e", f"trace={CALLS}", "-e", f"inject={call}:signal=KILL:when={count}"
            )
            cuts.points += 1
            cuts.killed += done.returncode in {-signal.SIGKILL, 128 + signal.SIGKILL}
            acknowledged = done.stdout.decode().split()
            cuts.violations += [f"{call} {count}: {fault}" for fault in _wrong(root, acknowledged, adds)]
    return cuts


def _points(base: Path, template: Path, adds: int) -> Iterator[tuple[str, int]]:
    log = base / "trace"
    with copied(template, base) as root:
        done = _strace(root, adds, "-o", str(log), "-e", f"trace={CALLS}")
        assert done.returncode == 0, done.stderr.decode()[-2000:]
    seen: Counter[str] = Counter()
    begun = False
    for line in log.read_text(errors="replace").splitlines():
        match = re.match(r"\d+\s+(\w+)\(", line)
        if match is None:
            continue
        seen[match[1]] += 1
        if begun and not match[1].startswith(("read", "close", "pread")):
            yield match[1], seen[match[1]]
        begun = begun or '"BEGIN\\n"' in line


def _wrong(root: Path, acknowledged: list[str], adds: int) -> Iterator[str]:
    state = child(lambda: ids(root))
    if state.word != "acknowledged":
        yield f"unreadable: {state.detail}"
        return
    expected = ["before", *(f"w{number}" for number in range(adds))]
    if state.value not in (expected[: len(acknowledged) + 1], expected[: len(acknowledged) + 2]):
        yield f"{acknowledged} acknowledged, holds {state.value}"
    again = child(lambda: add(root, "again"))
    if again.word != "acknowledged":
        yield f"the next writer did not get in: {again.detail}"
    yield from untidy(root)


def has_loop_devices() -> bool:
    """Whether an ext4 image can be made and mounted here."""
    tools = ("mkfs.ext4", "mount", "umount", "losetup")
    return os.geteuid() == 0 and all(map(shutil.which, tools)) and Path("/dev/loop-control").exists()


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


@contextlib.contextmanager
def _image(base: Path, options: str) -> Iterator[tuple[Path, Path]]:
    image, target = base / "disk.img", base / "disk"
    target.mkdir()
    with image.open("wb") as stream:
        stream.truncate(16 * 1024 * 1024)
    _run("mkfs.ext4", "-q", "-F", str(image))
    _run("mount", "-o", f"loop,{options}", str(image), str(target))
    try:
        yield image, target
    finally:
        _run("umount", str(target))


CUT_WRITER = """
import itertools, sys
from pathlib import Path
if len(sys.argv) > 2:
    from tests.support.crash.mutants import MUTANTS, apply
    apply(next(mutant for mutant in MUTANTS if mutant.name == sys.argv[2]))
from tests.support.crash.documents import adding, store
mine, document = store(Path(sys.argv[1]))
for number in itertools.count(1):
    with mine.transaction() as transaction:
        row = adding(document, f"c{number}")
        transaction.update(document, lambda there: row(there)[-40:])
    print(number, flush=True)
"""


def disk_cuts(count: int, options: str = "defaults", *, mutant: str | None = None) -> Cuts:
    """Stop a writer on a real ext4 disk, copy the disk as it is, and judge the copy as after a power cut.

    The writer is stopped while the image is copied: a copy of a moving disk is torn, and cries wolf. With a
    ``mutant`` the writer is an injured one, which shows whether these cuts would notice.
    """
    base = Path(_disk_scratch())
    cuts = Cuts()
    try:
        with _image(base, options) as (image, target):
            root = target / "agent"
            root.mkdir(mode=0o700)
            writer = subprocess.Popen(
                [sys.executable, "-c", CUT_WRITER, str(root), *([mutant] if mutant else [])],
                cwd=PROJECT,
                stdout=subprocess.PIPE,
                text=True,
            )
            try:
                _cut_many(cuts, count, writer, image, base)
            finally:
                writer.kill()
                writer.wait()
                assert writer.stdout is not None
                writer.stdout.close()
    finally:
        shutil.rmtree(base)
    return cuts


def _disk_scratch() -> str:
    # In memory: the loop device then has nothing of its own that could lag behind.
    return str(scratch())


def _cut_many(cuts: Cuts, count: int, writer: subprocess.Popen[str], image: Path, base: Path) -> None:
    assert writer.stdout is not None
    os.set_blocking(writer.stdout.fileno(), False)
    acknowledged = 0
    for number in range(count):
        time.sleep(0.004 + (number * 7 % 23) / 1000)
        writer.send_signal(signal.SIGSTOP)
        _await_stop(writer.pid)
        copy = base / "copy.img"
        shutil.copyfile(image, copy)
        with contextlib.suppress(TypeError):
            lines = (writer.stdout.read() or "").split()
            acknowledged = int(lines[-1]) if lines else acknowledged
        writer.send_signal(signal.SIGCONT)
        cuts.points += 1
        cuts.killed += 1
        wrong = _judge_copy(copy, base / "look", acknowledged)
        if wrong is not None:
            cuts.violations.append(f"cut {number}, {acknowledged} acknowledged: {wrong}")


def _await_stop(pid: int) -> None:
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"T", "t"}:
        time.sleep(0.0005)


@contextlib.contextmanager
def _rebooted() -> Iterator[None]:
    """Look as a machine does that has started anew: of a writer that still runs here, nothing would be left."""
    boot = holders._boot
    holders._boot = lambda: "after-the-cut"  # type: ignore[assignment]
    try:
        yield
    finally:
        holders._boot = boot


def _judge_copy(copy: Path, target: Path, acknowledged: int) -> str | None:
    target.mkdir(exist_ok=True)
    _run("mount", "-o", "loop", str(copy), str(target))
    try:
        root = target / "agent"
        held = ids(root) if root.exists() else []
        numbers = [int(identity.removeprefix("c")) for identity in held]
        if not numbers and acknowledged > 0:
            return "holds nothing"
        if numbers and numbers[-1] not in (acknowledged, acknowledged + 1):
            return f"holds up to {numbers[-1]}"
        if numbers != sorted(set(numbers)):
            return "holds rows in disorder"
        with _rebooted():
            add(root, f"c{10**9}")
    except PersonaError as error:
        return f"{type(error).__name__}: {error}"
    finally:
        _run("umount", str(target))
    return None
