"""Memories that other programs export as JSON: a list of objects, or one object a line.

Entries are read one after the other, so that a file that breaks off gives what stands before the break, and every
trouble names its line.
"""

from __future__ import annotations

import json
import re
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from persona_hooks.speech import phrase
from persona_mind.archive.entries import Entry, Read, kind_of, moment
from persona_mind.archive.markdown import paragraphs

if TYPE_CHECKING:
    from collections.abc import Iterator

_DECODER: Final = json.JSONDecoder()
_LISTS: Final = ("memories", "results", "memory", "data", "items")
_LISTED: Final = re.compile(r'\A\s*\{.*?"(?:' + "|".join(_LISTS) + r')"\s*:\s*\[', re.DOTALL)
_SPACE: Final = re.compile(r"[\s,]*")
_TEXTS: Final = ("memory", "content", "text", "value")
_CREATED: Final = ("created_at", "createdAt", "created_time", "create_time", "timestamp", "date")
_UPDATED: Final = ("updated_at", "updatedAt", "update_time", "last_updated")
_CLAUDE: Final = "conversations_memory"
_PROJECTS: Final = "project_memories"
_MEM0: Final = frozenset({"user_id", "agent_id", "run_id", "app_id", "hash", "metadata", "categories"})
_OFF: Final = frozenset({"deleted", "archived", "paused", "disabled"})


def read_json(text: str, chosen: str | None) -> Read | None:
    """Return what a JSON file holds; None where it is no memory.

    Args:
        text: The file.
        chosen: What it is said to be; found out without it.
    """
    found = list(_values(text))
    objects = [value for _, value in found if isinstance(value, dict)]
    if any(_CLAUDE in value or _PROJECTS in value for value in objects):
        return _claude(found, chosen)
    recognised = any(_text_of(value) for value in objects) or (
        chosen is not None and any(isinstance(value, str) for _, value in found)
    )
    if not recognised:
        return None
    read = Read(chosen or _guess(objects))
    for where, value in found:
        _one(read, where, value)
    return read


def _guess(objects: list[dict[str, Any]]) -> str:
    return "mem0" if any("memory" in value or _MEM0 & value.keys() for value in objects) else "chatgpt"


def _one(read: Read, where: str, value: object) -> None:
    if isinstance(value, _Broken):
        read.bad.append((where, value.why))
        return
    if isinstance(value, str):
        value = {"text": value}
    text = _text_of(value) if isinstance(value, dict) else ""
    if not isinstance(value, dict) or not text:
        read.bad.append((where, phrase("there is no text in it")))
        return
    if value.get("enabled") is False or value.get("state") in _OFF:
        read.skipped += 1
        return
    metadata = value.get("metadata")
    more = metadata if isinstance(metadata, dict) else {}
    tags = [*_words(value.get("categories")), *_words(more.get("categories")), *_words(value.get("tags"))]
    kind = kind_of(value.get("category") or value.get("type") or more.get("category") or more.get("type"))
    created = _first(value, _CREATED)
    read.entries.append(
        Entry(where, text, kind, tuple(dict.fromkeys(tags)), created, _first(value, _UPDATED) or created)
    )


def _claude(found: list[tuple[str, object]], chosen: str | None) -> Read:
    read = Read(chosen or "claude")
    for where, value in found:
        if isinstance(value, _Broken):
            read.bad.append((where, value.why))
        elif isinstance(value, dict):
            projects = value.get(_PROJECTS)
            texts = [value.get(_CLAUDE), *(projects.values() if isinstance(projects, dict) else ())]
            for number, text in enumerate(texts):
                if isinstance(text, str):
                    place = phrase("{where}, project {number}", where=where, number=number) if number else where
                    read.entries += [
                        Entry(
                            phrase("{where}, line {number}", where=place, number=part.line), part.text, tags=part.tags
                        )
                        for part in paragraphs(text)
                    ]
    return read


class _Broken:
    """What stands where an entry cannot be read."""

    def __init__(self, why: str) -> None:
        self.why = why


def _values(text: str) -> Iterator[tuple[str, object]]:
    """Yield every entry with its place: of a list, of a list in an object, or of lines of objects."""
    listed = _LISTED.match(text)
    if text.lstrip()[:1] == "[":
        yield from _items(text, text.index("[") + 1)
    elif listed is not None and _whole(text) is not None:
        yield from _items(text, listed.end())
    elif (value := _whole(text)) is not None:
        yield phrase("entry {number}", number=1), value
    elif listed is not None and "\n{" not in text.strip():
        yield from _items(text, listed.end())
    else:
        yield from _lines(text)


def _whole(text: str) -> object | None:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def _items(text: str, start: int) -> Iterator[tuple[str, object]]:
    at, line, counted, before = start, text.count("\n", 0, start) + 1, start, 0
    for number in count(1):
        match = _SPACE.match(text, at)
        at = match.end() if match else at
        line, counted = line + text.count("\n", counted, at), at
        where = phrase("line {number}", number=line)
        if line == before:
            where = phrase("line {line}, entry {number}", line=line, number=number)
        before = line
        if text.startswith("]", at):
            return
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            yield (
                where,
                _Broken(phrase("the JSON is broken from here on") if at < len(text) else phrase("the file breaks off")),
            )
            return
        yield where, value
        at = end


def _lines(text: str) -> Iterator[tuple[str, object]]:
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    read = [(number, _whole(line)) for number, line in lines]
    if not any(isinstance(value, dict) for _, value in read):
        return
    for number, value in read:
        yield phrase("line {number}", number=number), _Broken(phrase("it is no JSON")) if value is None else value


def _text_of(value: dict[str, Any]) -> str:
    found = next((value[name] for name in _TEXTS if isinstance(value.get(name), str) and value[name].strip()), "")
    return str(found)


def _words(value: object) -> list[str]:
    listed = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return [word for word in listed if isinstance(word, str) and word.strip()]


def _first(value: dict[str, Any], names: tuple[str, ...]) -> Any:  # noqa: ANN401 - a moment or None
    return next((found for name in names if (found := moment(value.get(name))) is not None), None)
