"""What a process loads: nothing that its command can do without. Not timed; ``benchmarks/startup.py`` is."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

HEAVY = {
    "Stemmer",
    "asyncio",
    "filelock",
    "mcp",
    "numpy",
    "onnxruntime",
    "portalocker",
    "prompt_toolkit",
    "pydantic_ai",
    "rich",
    "ruamel",
    "tokenizers",
    "typer",
    "wcwidth",
}
"""Top-level packages that take long to load and that few commands need."""
FACULTIES = ("backlog", "capture", "facts", "injection", "notes", "quarantine", "recall", "recorder", "sessions")
LIST = "json.dump(sorted(sys.modules), sys.stderr)"
RUN = f"""
import json, sys
from persona_host.cli import main
try:
    main()
finally:
    {LIST}
"""


def loaded(code: str, *words: str, environ: dict[str, str], cwd: Path) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", code, *words], env=environ, cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.stderr.startswith("["), done.stderr
    assert done.returncode == 0
    return set(json.loads(done.stderr))


def heavy(modules: set[str]) -> set[str]:
    return {module.partition(".")[0] for module in modules} & HEAVY


@pytest.fixture
def remembered(environ: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """An environment in which one fact is stored."""
    words = '{"action":"remember","term":"long","kind":"note","text":"The port is 5433."}'
    loaded(RUN, "tool", "memory", words, environ=environ, cwd=tmp_path)
    return environ


@pytest.mark.parametrize(
    "words", [("mind",), ("mind", "--json"), ("mind", "doctor"), ("inject",), ("mind", "off")], ids=" ".join
)
def test_a_command_loads_nothing_heavy(words: tuple[str, ...], remembered: dict[str, str], tmp_path: Path) -> None:
    assert heavy(loaded(RUN, *words, environ=remembered, cwd=tmp_path)) == set()


def test_importing_the_library_loads_no_dependency_at_all(environ: dict[str, str], tmp_path: Path) -> None:
    modules = loaded(f"import json, sys, persona_mind; {LIST}", environ=environ, cwd=tmp_path)
    assert heavy(modules) == set()
    assert not modules & {"click", "pluggy", "pydantic"}


def test_plugins_that_are_only_started_load_no_faculty(environ: dict[str, str], tmp_path: Path) -> None:
    start = (
        "import json, os, pathlib, sys; from persona_host.headless import headless_runtime; home = pathlib.Path.home();"
        "runtime = headless_runtime(agent_dir=home, home=home, environ=os.environ);"
        "assert len(runtime.registry) > 20; assert {state.state for state in runtime.states()} == {'loaded'};"
    )
    modules = loaded(f"{start} {LIST}", environ=environ, cwd=tmp_path)
    assert not {f"persona_mind.{faculty}" for faculty in FACULTIES} & modules


def test_looking_at_memory_loads_neither_what_writes_nor_what_other_verbs_need(
    remembered: dict[str, str], tmp_path: Path
) -> None:
    modules = loaded(RUN, "mind", environ=remembered, cwd=tmp_path)
    unwanted = {
        "persona_mind.backlog.reminders",
        "persona_mind.backlog.verbs",
        "persona_mind.capture",
        "persona_mind.facts.verbs",
        "persona_mind.notes",
        "persona_mind.quarantine.verbs",
        "persona_mind.recall.index",
        "persona_mind.recall.rank",
        "persona_mind.recorder",
        "persona_mind.sessions",
        "persona_mind.health",
    }
    assert not unwanted & modules


def test_no_plugin_of_pydantics_sees_what_is_validated(remembered: dict[str, str], tmp_path: Path) -> None:
    spy = tmp_path / "spy"
    (spy / "spy-1.dist-info").mkdir(parents=True)
    (spy / "spy-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: spy\nVersion: 1\n", "utf-8")
    (spy / "spy-1.dist-info" / "entry_points.txt").write_text("[pydantic]\nspy = spy:plugin\n", "utf-8")
    plugin = "class plugin:\n    @staticmethod\n    def new_schema_validator(*_): return None, None, None\n"
    (spy / "spy.py").write_text(plugin, "utf-8")
    environ = {**remembered, "PYTHONPATH": str(spy)}
    assert "spy" in loaded(
        f"import json, sys, pydantic; pydantic.create_model('M', x=int)(x=1); {LIST}", environ=environ, cwd=tmp_path
    )
    assert "spy" not in loaded(RUN, "mind", environ=environ, cwd=tmp_path)


def test_a_hook_loads_next_to_nothing_before_it_has_asked_the_server(environ: dict[str, str], tmp_path: Path) -> None:
    code = (
        "import sys; before = set(sys.modules); import persona_host.cli; import os;"
        "from persona_host.adapters.claude_code import asking, hook; assert asking.ask('Stop', b'', {}) is None;"
        "new = set(sys.modules) - before; import json; json.dump(sorted(new), sys.stderr)"
    )
    modules = loaded(code, environ=environ, cwd=tmp_path)
    assert {module for module in modules if not module.startswith("persona_host")} <= {"__future__", "binascii", "gc"}
