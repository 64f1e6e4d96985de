"""Mutants made by a machine: what ``make mutants`` runs. It needs the dependency group ``mutants``.

    python -m benchmarks.mutants                         every mutant of the modules below
    python -m benchmarks.mutants --only '*recovery*'     those of these names
    python -m benchmarks.mutants --keep /tmp/mutants     go on in a directory where a run was broken off

The tree is copied, mutmut changes the copy, and the unit stage runs against each mutant in a process forked from one
that has loaded everything. Printed is how many were noticed, and the change of each one that was not.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).resolve().parents[1]
MODULES = ("commit", "foreign_lock", "holders", "locks", "native_lock", "recovery")
STAGE = tuple(
    f"tests/store/test_{name}.py"
    for name in (
        "copies",
        "engine_stage",
        "documents",
        "json_file",
        "last_resorts",
        "lock_rules",
        "original_profile",
        "recovery",
    )
)
COPIED = ("hooks", "persona_store", "persona_hooks", "persona_companion", "persona_mind", "persona_host", "tests")
DEMAND = 0.85
NOTICED = ("killed", "timeout", "segfault")
MEMORY = Path("/dev/shm")  # noqa: S108 - only where it is fast; every use makes a directory of its own
SETTINGS = f"""
[tool.mutmut]
source_paths = ["persona_store"]
only_mutate = {json.dumps([f"persona_store/{name}.py" for name in MODULES])}
also_copy = {json.dumps([name for name in COPIED if name != "persona_store"])}
timeout_multiplier = 5.0
timeout_constant = 10.0
pytest_add_cli_args = ["-p", "no:cacheprovider", "-p", "no:randomly", "-p", "tests.support.uncollected"]
pytest_add_cli_args_test_selection = {json.dumps(STAGE)}
"""


def copied(target: Path) -> None:
    """Copy what the unit stage needs, and say in the copy what is to be mutated."""
    for name in COPIED:
        if (PROJECT / name).is_dir():
            shutil.copytree(PROJECT / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    (target / "pyproject.toml").write_text((PROJECT / "pyproject.toml").read_text("utf-8") + SETTINGS, "utf-8")


def mutmut(tree: Path, *arguments: str, quiet: bool = False) -> str:
    """Run mutmut in a copy, in a session of its own: a mutant may send signals to everybody it finds there.

    The one that asks whether a process lives may hang it up instead; a test looks at what it sends.
    """
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    environ = {**os.environ, "PYTHONPATH": f"{tree / 'hooks'}", "TMPDIR": str(tree / "tmp"), "PERSONA_TEST_KEEP": "1"}
    (tree / "tmp").mkdir(exist_ok=True)
    program = [str(Path(sys.executable).with_name("mutmut")), *arguments]
    done = subprocess.run(
        program,
        cwd=tree,
        env=environ,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if quiet else None,
        check=False,
        start_new_session=True,
    )
    return done.stdout or ""


def verdicts(tree: Path) -> dict[str, str]:
    """Return what became of each mutant, by its name."""
    from mutmut.stats import status_by_exit_code  # noqa: PLC0415 - it is no dependency of anything else

    found: dict[str, str] = {}
    for name in MODULES:
        data = json.loads((tree / f"mutants/persona_store/{name}.py.meta").read_text("utf-8"))
        found |= {mutant: status_by_exit_code[code] for mutant, code in data["exit_code_by_key"].items()}
    return found


def run(tree: Path, wanted: str, jobs: int) -> None:
    """Try all mutants; whatever ends mutmut early, go on for as long as that gets further."""
    before, left = -1, 0
    while left != before:
        mutmut(tree, "run", "--max-children", str(jobs), *([] if wanted == "*" else [wanted]))
        before, left = left, sum(verdict == "not checked" for verdict in verdicts(tree).values())
        if not left:
            return


def report(tree: Path, wanted: str) -> int:
    """Print what was noticed and the change of what was not; 1 when too little was noticed."""
    found = {name: verdict for name, verdict in verdicts(tree).items() if fnmatch(name, wanted)}
    for name, verdict in found.items():
        if verdict not in {*NOTICED, "not checked"}:
            print(f"\n{verdict}: {name}\n{mutmut(tree, 'show', name, quiet=True)}")
    print()
    for module in MODULES:
        counts = Counter(verdict for name, verdict in found.items() if name.startswith(f"persona_store.{module}."))
        print(f"{module:<14}{_told(counts)}")
    total = Counter(found.values())
    print(f"{'together':<14}{_told(total)}")
    return int(not found or _share(total) < DEMAND)


def _told(counts: Counter[str]) -> str:
    listed = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    return f"{counts.total():>5} mutants, {_share(counts):.1%} noticed: {listed}"


def _share(counts: Counter[str]) -> float:
    return sum(counts[verdict] for verdict in NOTICED) / max(1, counts.total())


@contextmanager
def tree_at(kept: Path | None) -> Iterator[Path]:
    """A copy to work in: one that stays, where a path is given, or one that goes."""
    if kept is not None:
        if not kept.exists():
            copied(kept)
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="persona-mutants-", dir=MEMORY if MEMORY.is_dir() else None) as made:
        copied(Path(made))
        yield Path(made)


def main(arguments: list[str]) -> int:
    """Make the mutants, run the unit stage against each, and print what came of it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description="Mutants made by a machine.")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="mutants whose names fit")
    parser.add_argument("--jobs", type=int, default=2, help="in so many processes")
    parser.add_argument("--keep", type=Path, metavar="DIRECTORY", help="work there, go on there, and leave it")
    wanted = parser.parse_args(arguments)
    with tree_at(wanted.keep) as tree:
        run(tree, wanted.only, wanted.jobs)
        return report(tree, wanted.only)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
