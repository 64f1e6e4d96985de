"""The house as a test: imports run one way, heavy packages come late, modules and functions stay small."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HOMES = {"persona_hooks": ROOT / "hooks" / "persona_hooks"} | {
    name: ROOT / name for name in ("persona_store", "persona_companion", "persona_mind", "persona_host")
}
MAY_IMPORT = {
    "persona_hooks": (),
    "persona_store": ("persona_hooks.errors", "persona_hooks.speech"),
    "persona_companion": ("persona_hooks", "persona_store"),
    "persona_mind": ("persona_hooks", "persona_store"),
    "persona_host": ("persona_hooks", "persona_store"),
}
FACULTIES = (
    "facts",
    "backlog",
    "notes",
    "sessions",
    "notebook",
    "people",
    "moments",
    "quarantine",
    "recorder",
    "meaning",
)
PIPELINES = ("capture", "injection", "consolidation", "migration", "archive", "safekeeping")
# Inside the mind a part may import itself and whatever stands on a lower floor, never its neighbours.
FLOORS = {"kernel": 0, "recall": 1} | dict.fromkeys(FACULTIES, 2) | dict.fromkeys(PIPELINES, 3)
PLUGIN_FLOOR = 4
MAX_FILE = 600
MAX_FUNCTION = 60
MAX_PLUGIN = 200
MAX_HOOK = 12
HEAVY = ("asyncio", "filelock", "portalocker", "wcwidth", "rich", "click", "Stemmer", "ruamel", "numpy", "pydantic_ai")


@dataclass(frozen=True, slots=True)
class Import:
    """One import of one of our modules.

    Attributes:
        target: What is imported, dotted; for ``from a import b`` it is ``a.b`` where that is a module.
        line: Where.
        inside: Whether it stands inside a function.
        typing: Whether it is for type checkers only.
        reason: The comment that says why it stands where it stands.
    """

    target: str
    line: int
    inside: bool
    typing: bool
    reason: str


@cache
def modules() -> dict[str, Path]:
    """Return every module of ours by its dotted name."""
    found: dict[str, Path] = {}
    for package, home in HOMES.items():
        for path in sorted(home.rglob("*.py")):
            parts = [package, *path.relative_to(home).with_suffix("").parts]
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports(module: str) -> tuple[Import, ...]:
    """Return the imports of our own modules that ``module`` makes, wherever they stand in it."""
    path = modules()[module]
    source = path.read_text("utf-8")
    visitor = _Imports(module, source.splitlines(), is_package=path.name == "__init__.py")
    visitor.visit(ast.parse(source))
    return tuple(visitor.found)


class _Imports(ast.NodeVisitor):
    def __init__(self, module: str, lines: list[str], *, is_package: bool) -> None:
        self.found: list[Import] = []
        self._package = module if is_package else module.rpartition(".")[0]
        self._lines = lines
        self._inside = 0
        self._typing = 0

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._add(alias.name, node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = node.module or ""
        if node.level:
            parent = ".".join(self._package.split(".")[: len(self._package.split(".")) - node.level + 1])
            base = f"{parent}.{base}".rstrip(".")
        for alias in node.names:
            name = f"{base}.{alias.name}"
            self._add(name if name in modules() else base, node)

    def visit_Call(self, node: ast.Call) -> None:
        called = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if called in {"import_module", "__import__"} and node.args and isinstance(node.args[0], ast.Constant):
            self._add(str(node.args[0].value), node)
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._inside += 1
        self.generic_visit(node)
        self._inside -= 1

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._inside += 1
        self.generic_visit(node)
        self._inside -= 1

    def visit_If(self, node: ast.If) -> None:
        typing = "TYPE_CHECKING" in ast.unparse(node.test)
        self._typing += typing
        for child in node.body:
            self.visit(child)
        self._typing -= typing
        for child in node.orelse:
            self.visit(child)

    def _add(self, target: str, node: ast.stmt | ast.expr) -> None:
        if target.partition(".")[0] in HOMES:
            self.found.append(Import(target, node.lineno, bool(self._inside), bool(self._typing), self._reason(node)))

    def _reason(self, node: ast.stmt | ast.expr) -> str:
        """Return the comment on an import, or above the group of imports that it stands in."""
        line = self._lines[(node.end_lineno or node.lineno) - 1]
        _, separator, reason = line.partition(" - ")
        above = node.lineno - 2
        while above >= 0 and self._lines[above].lstrip().startswith(("import ", "from ")):
            above -= 1
        if not separator and self._lines[above].lstrip().startswith("# "):
            reason = self._lines[above].lstrip("# ")
        return reason


def is_within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def floor(module: str) -> int:
    """Return on which floor of the mind a module stands; what wires the parts is above them all."""
    return FLOORS.get([*module.split("."), ""][1], PLUGIN_FLOOR)


@pytest.mark.parametrize("module", list(modules()))
def test_imports_run_one_way(module: str) -> None:
    package = module.partition(".")[0]
    wrong = [
        f"{module}:{item.line} imports {item.target}"
        for item in imports(module)
        if not any(is_within(item.target, allowed) for allowed in (package, *MAY_IMPORT[package]))
    ]
    assert wrong == []


@pytest.mark.parametrize("module", [name for name in modules() if is_within(name, "persona_mind")])
def test_inside_the_mind_a_part_imports_lower_floors_and_itself(module: str) -> None:
    own = ".".join(module.split(".")[:2])
    wrong = [
        f"{module}:{item.line} imports {item.target}"
        for item in imports(module)
        if is_within(item.target, "persona_mind")
        and not is_within(item.target, own)
        and floor(item.target) >= floor(module)
        and floor(module) < PLUGIN_FLOOR
    ]
    assert wrong == []


@pytest.mark.parametrize("module", list(modules()))
def test_an_import_inside_a_function_says_why_it_is_there(module: str) -> None:
    silent = [f"{module}:{item.line}" for item in imports(module) if item.inside and not item.reason]
    assert silent == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    waiting = {
        name: {item.target for item in imports(name) if not (item.typing or item.inside) and item.target != name}
        for name in modules()
    }
    while free := [name for name, needs in waiting.items() if not needs & waiting.keys()]:
        for name in free:
            del waiting[name]
    # A package that its own modules import through is no circle of theirs.
    circles = {name: sorted(needs & waiting.keys()) for name, needs in waiting.items()}
    assert circles == {}


@pytest.mark.parametrize("module", list(modules()))
def test_a_module_and_its_functions_fit_in_a_head(module: str) -> None:
    source = modules()[module].read_text("utf-8")
    assert len(source.splitlines()) <= MAX_FILE
    functions = [
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    long = [node.name for node in functions if (node.end_lineno or 0) - node.lineno >= MAX_FUNCTION]
    assert long == []


@pytest.mark.parametrize("plugin", ["persona_companion.plugin", "persona_mind.plugin"])
def test_a_plugin_only_wires(plugin: str) -> None:
    source = modules()[plugin].read_text("utf-8")
    assert len(source.splitlines()) <= MAX_PLUGIN
    hooks = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and "hookimpl" in map(ast.unparse, node.decorator_list)
    ]
    assert hooks
    assert [node.name for node in hooks if (node.end_lineno or 0) - node.lineno >= MAX_HOOK] == []


@pytest.mark.parametrize("module", [name for name in modules() if is_within(name, "persona_mind")])
def test_what_a_verb_is_made_of_stands_where_it_is_looked_for(module: str) -> None:
    source = ast.parse(modules()[module].read_text("utf-8"))
    homes = {"Params": "params", "NoParams": "params", "Outcome": "outcomes"}
    wrong = [
        node.name
        for node in source.body
        if isinstance(node, ast.ClassDef)
        for base in map(ast.unparse, node.bases)
        if base in homes and module.rpartition(".")[2] != homes[base]
    ]
    calls = [node for node in ast.walk(source) if isinstance(node, ast.Call) and ast.unparse(node.func) == "Verb"]
    assert wrong == []
    assert not calls or module.endswith(".verbs")


@pytest.mark.parametrize("module", list(modules()))
def test_every_module_says_what_it_is_for(module: str) -> None:
    assert ast.get_docstring(ast.parse(modules()[module].read_text("utf-8")))


def test_the_contract_loads_nothing_heavy(environ: dict[str, str]) -> None:
    names = ", ".join(name for name in modules() if is_within(name, "persona_hooks"))
    script = f"import sys, {names}\nprint(*sorted({set(HEAVY)!r} & sys.modules.keys()))"
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environ)
    assert answer.stdout.split() == []


def test_a_wrong_import_would_be_seen() -> None:
    source = (
        "from __future__ import annotations\nfrom . import facts\nfrom persona_mind.kernel import clock\n"
        "def f():\n    import persona_host\nif TYPE_CHECKING:\n    from persona_hooks.ports import Host\n"
        "import_module('persona_companion.plugin')\n"
    )
    visitor = _Imports("persona_mind.recall", source.splitlines(), is_package=True)
    visitor.visit(ast.parse(source))
    found = [(item.target, item.line, item.inside, item.typing) for item in visitor.found]
    assert found[0][0].startswith("persona_mind.recall")
    assert [item[0] for item in found[2:]] == ["persona_host", "persona_hooks.ports", "persona_companion.plugin"]
    assert found[2][2]
    assert found[3][3]
