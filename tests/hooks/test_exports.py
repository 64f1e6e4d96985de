"""The contract's front door: what it lists is there, and what a plugin author needs is listed."""

from __future__ import annotations

import ast
import importlib
import pkgutil

import pytest

import persona_hooks

MODULES = sorted(item.name for item in pkgutil.iter_modules(persona_hooks.__path__))


def test_the_front_door_lists_what_it_holds() -> None:
    public = {name for name, value in vars(persona_hooks).items() if not name.startswith("_") and not _is_module(value)}
    assert public - {"annotations"} == set(persona_hooks.__all__)
    assert list(persona_hooks.__all__) == sorted(persona_hooks.__all__)


@pytest.mark.parametrize("name", MODULES)
def test_everything_public_says_what_a_caller_needs(name: str) -> None:
    module = importlib.import_module(f"persona_hooks.{name}")
    assert module.__file__ is not None
    with open(module.__file__, encoding="utf-8") as file:  # noqa: PTH123 - one line
        tree = ast.parse(file.read())
    silent = [
        node.name
        for parent in ast.walk(tree)
        if isinstance(parent, ast.Module | ast.ClassDef)
        for node in parent.body
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and not node.name.startswith("_")
        and not (isinstance(parent, ast.ClassDef) and parent.name.startswith("_"))
        and not ast.get_docstring(node)
    ]
    assert silent == []


@pytest.mark.parametrize("name", MODULES)
def test_what_a_module_lists_is_there(name: str) -> None:
    module = importlib.import_module(f"persona_hooks.{name}")
    listed = getattr(module, "__all__", [])
    assert [item for item in listed if not hasattr(module, item)] == []
    assert len(set(listed)) == len(listed)


def _is_module(value: object) -> bool:
    return type(value).__name__ == "module"
