"""Memories that stand in Markdown: Claude's and Hermes's files, basic-memory's notes, lists that people paste.

A bullet with what is indented below it is one memory, and so is a paragraph. A heading is a word to find what stands
below it by. Fenced code belongs to what it follows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from persona_hooks.speech import phrase
from persona_mind.archive.entries import TELLING, Entry, Read, kind_of, moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from persona_mind.kernel.kinds import Kind

MAX_TAG: Final = 128
DELIMITER: Final = "§"
MAX_WHOLE: Final = 4_000
"""Characters of a file that is one memory; half of what a fact may hold, since letters count differently there."""

_HEADING: Final = re.compile(r" {0,3}(#{1,6})\s+(.+?)\s*#*\s*")
_BULLET: Final = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s+(.*)")
_FENCE: Final = re.compile(r"\s*(```|~~~)")
_RULE: Final = re.compile(r"\s*([-*_=═─])\1{2,}\s*")
_FRONT: Final = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_PAIR: Final = re.compile(r"\s*([A-Za-z_][\w-]*)\s*:\s*(.*)")
_POINTER: Final = re.compile(r"\[[^\]]+\]\([^)\s]+\.md\)")
_DATED: Final = re.compile(r"\[?(\d{4}-\d\d-\d\d)\]?\s*(?:[-–—:]\s+|\]\s*)")
_UNDATED: Final = re.compile(r"\[(?:unknown|no date|date unknown|n/a)\]\s*[-–—:]?\s*", re.IGNORECASE)
_OBSERVATION: Final = re.compile(r"\[([^\[\]()]{1,64})\]\s+(\S.*)", re.DOTALL)
_CHECKBOX: Final = re.compile(r"\[[ xX/-]?\]\s")
_RELATION: Final = re.compile(r"[^\[\]]{0,64}\[\[[^\]]+\]\](\s*\([^)]*\))?\s*")
_PASTED: Final = re.compile(
    r"\W*(?:chat ?gpt(?:['’]s)?\W+(?:saved )?memor(?:y|ies)|saved memor(?:y|ies))\W*", re.IGNORECASE
)
"""The heading of a list that a person copied from ChatGPT's settings."""
_HASHTAG: Final = re.compile(r"(?<!\S)#([\w/-]{1,64})")
_TRAILING: Final = re.compile(r"(?:\s+#[\w/-]{1,64})+\s*$")


@dataclass(slots=True)
class Part:
    """One bullet or paragraph.

    Attributes:
        line: Where it begins.
        bullet: It is a bullet, not a paragraph.
        tags: The heading that it stands below.
    """

    line: int
    bullet: bool
    tags: tuple[str, ...]
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its words."""
        return "\n".join(self.lines).strip()


def read_markdown(name: str, text: str, chosen: str | None, *, meant: bool) -> Read | None:
    """Return what a Markdown file or a list in plain text holds; None where it is no memory.

    Args:
        name: The file's own name.
        text: The file.
        chosen: What it is said to be; found out without it.
        meant: The file was named: a Markdown file is then taken for a memory; plain text only if its name or its
            heading says so, since any text could be one.
    """
    body, front, skipped = _without_front(text)
    if chosen == "hermes" or (chosen is None and f"\n{DELIMITER}\n" in f"\n{body}\n"):
        return _hermes(body, skipped)
    if chosen == "basic-memory" or (chosen is None and _is_note(body, front)):
        return _note(name, body, front, skipped)
    if chosen is None and not meant and not _is_memory(name, front):
        return None
    guess = "claude" if name.lower().endswith(".md") else "chatgpt"
    if chosen is None and guess == "chatgpt" and not (TELLING.search(name) or _heading(body)):
        return None
    if guess == "chatgpt" and _heading(body):
        body, skipped = body[len(_heading(body)) :], skipped + _heading(body).count("\n")
    if {"name", "description"} <= front.keys():
        return _topic(body, front, chosen or guess, skipped)
    return _listed(body, chosen or guess, skipped)


def paragraphs(text: str, first: int = 1) -> Iterator[Part]:
    """Yield the bullets and paragraphs of a text; ``first`` is the number of its first line."""
    heading: tuple[str, ...] = ()
    part: Part | None = None
    fence = ""
    for number, line in enumerate(text.splitlines(), first):
        mark = _FENCE.match(line)
        if fence or mark:
            fence = fence if fence and not (mark and mark[1] == fence) else "" if fence else str(mark and mark[1])
            part = part or Part(number, bullet=False, tags=heading)
            part.lines.append(line)
            continue
        title, bullet = _HEADING.fullmatch(line), _BULLET.match(line)
        ends = title or bullet or _RULE.fullmatch(line) or (not line.strip() and not (part and part.bullet))
        if part is not None and (ends or (part.bullet and line[:1].strip() and not part.lines[-1].strip())):
            yield part
            part = None
        if title:
            heading = (_tag(title[2]),)
        elif bullet:
            part = Part(number, bullet=True, tags=heading, lines=[bullet[1]])
        elif line.strip() and not _RULE.fullmatch(line):
            part = part or Part(number, bullet=False, tags=heading)
            part.lines.append(line.strip() if part.bullet else line)
        elif part is not None:
            part.lines.append("")
    if part is not None:
        yield part


def _listed(body: str, form: str, skipped: int) -> Read:
    read = Read(form)
    for part in paragraphs(body, skipped + 1):
        for line, text in _single(part, form):
            if not text or _POINTER.match(text):
                # A pointer to another file of the same memory, which comes in by itself.
                read.skipped += 1
                continue
            at, words = _dated(text)
            read.entries.append(Entry(phrase("line {number}", number=line), words, tags=part.tags, at=at, seen=at))
    return read


def _single(part: Part, form: str) -> Iterator[tuple[int, str]]:
    """Yield a part, or each of its lines where it is a list that was pasted without marks."""
    lines = [line.strip() for line in part.lines]
    if not part.bullet and (form == "chatgpt" or sum(bool(_DATED.match(line)) for line in lines) > 1):
        yield from ((part.line + number, line) for number, line in enumerate(lines) if line)
    else:
        yield part.line, part.text


def _hermes(body: str, skipped: int) -> Read:
    read = Read("hermes")
    line, lines = skipped + 1, list[str]()
    for number, text in enumerate([*body.splitlines(), DELIMITER], skipped + 1):
        if text.strip() != DELIMITER:
            lines.append(text)
            continue
        if words := "\n".join(lines).strip():
            blank = next((at for at, one in enumerate(lines) if one.strip()), 0)
            read.entries.append(Entry(phrase("line {number}", number=line + blank), words))
        line, lines = number + 1, []
    return read


def _note(name: str, body: str, front: Mapping[str, list[str]], skipped: int) -> Read:
    """Read a note of basic-memory: its observations, and the prose around them; links between notes are no memories."""
    read = Read("basic-memory")
    title = _tag(" ".join(front.get("title", ())) or re.sub(r"\.\w+$", "", name))
    common = (title, *(_tag(word) for word in front.get("tags", ())))
    at = next((found for key in ("created", "date") if (found := moment(" ".join(front.get(key, ()))))), None)
    for part in paragraphs(body, skipped + 1):
        text, kind, tags = part.text, kind_of(""), list(common)
        seen = _OBSERVATION.fullmatch(text) if part.bullet else None
        if not text or (part.bullet and (_CHECKBOX.match(text) or _RELATION.fullmatch(text))):
            read.skipped += 1
            continue
        if seen is not None:
            kind = kind_of(seen[1])
            tags += [_tag(seen[1]), *map(_tag, _HASHTAG.findall(seen[2]))]
            text = _TRAILING.sub("", seen[2])
        read.entries.append(
            Entry(
                phrase("line {number}", number=part.line), text, kind, tuple(dict.fromkeys(filter(None, tags))), at, at
            )
        )
    return read


def _topic(body: str, front: Mapping[str, list[str]], form: str, skipped: int) -> Read:
    """Read a file that is one memory, with its reasons and how to apply it; a long one comes in paragraphs."""
    kind: Kind = kind_of(" ".join(front.get("type", ())))
    tag = (_tag(" ".join(front["name"])),)
    text = body.strip()
    read = Read(form)
    if text and len(text) <= MAX_WHOLE:
        read.entries.append(Entry(phrase("line {number}", number=skipped + 1), text, kind, tag))
    else:
        read.entries += [
            Entry(phrase("line {number}", number=part.line), part.text, kind, (*tag, *part.tags))
            for part in paragraphs(body, skipped + 1)
        ]
    return read


def _heading(body: str) -> str:
    """Return the heading of a pasted list, with the blank lines around it; empty where there is none."""
    start = len(body) - len(body.lstrip())
    line, end, _ = body[start:].partition("\n")
    return body[:start] + line + end if _PASTED.fullmatch(line) else ""


def _is_note(body: str, front: Mapping[str, list[str]]) -> bool:
    if "permalink" in front:
        return True
    bullets = [part.text for part in paragraphs(body) if part.bullet]
    seen = [text for text in bullets if _OBSERVATION.fullmatch(text) and not _DATED.match(text)]
    return "title" in front and any(not _CHECKBOX.match(text) and not _UNDATED.match(text) for text in seen)


def _is_memory(name: str, front: Mapping[str, list[str]]) -> bool:
    return name.lower() in {"memory.md", "user.md"} or {"name", "description", "type"} <= front.keys()


def _dated(text: str) -> tuple[datetime | None, str]:
    match = _DATED.match(text)
    if match and (at := moment(match[1])):
        return at, text[match.end() :].strip()
    return None, _UNDATED.sub("", text, count=1) if _UNDATED.match(text) else text


def _without_front(text: str) -> tuple[str, dict[str, list[str]], int]:
    """Return the text without its front matter, what that says, and how many lines it takes."""
    match = _FRONT.match(text)
    if match is None:
        return text, {}, 0
    front: dict[str, list[str]] = {}
    last = ""
    for line in match[1].splitlines():
        if (item := re.fullmatch(r"\s*-\s+(.*)", line)) and last:
            front[last].append(_bare(item[1]))
        elif pair := _PAIR.fullmatch(line):
            last = pair[1].lower()
            value = pair[2].strip()
            listed = value[1:-1].split(",") if value[:1] == "[" and value[-1:] == "]" else [value] if value else []
            front[last] = [_bare(word) for word in listed if _bare(word)]
    return text[match.end() :], front, match[0].count("\n")


def _bare(word: str) -> str:
    return word.strip().strip("\"'").strip()


def _tag(word: str) -> str:
    return " ".join(re.sub(r"[*_`]", "", word).split())[:MAX_TAG]
