"""Lines that fit a terminal: broken between words, a path after a slash, and inside a name only where they must."""

from __future__ import annotations

import re
from functools import cache

# Text in these scripts has no spaces, and may be broken after any character.
_WIDE = "\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_ROW = re.compile(r" *\S+?(?: \S+)*? {2,}(?=\S)")
_JOINTS = re.compile(r"[^/\\]*[/\\]+|[^/\\]+")


@cache
def _tokens() -> re.Pattern[str]:
    # 3 ms to compile, which text that fits does without.
    return re.compile(rf"(?P<wide>[{_WIDE}])|(?P<word>[^\s{_WIDE}]+)|(?P<gap>[^\S\n]+)|\n")


def width(text: str) -> int:
    """Return how many columns a line takes."""
    if text.isascii():
        return len(text)
    from wcwidth import wcswidth  # noqa: PLC0415 - 40 ms of tables that a short answer does not need

    return max(0, wcswidth(text))


def wrap(line: str, columns: int) -> list[str]:
    """Return one line as lines of at most ``columns`` columns.

    Those that follow are indented as the second column of a row is, else further than the first one where that is
    indented, so that they are not taken for lines of their own.
    """
    if width(line) <= columns:
        return [line]
    begin = line[: min(len(line) - len(line.lstrip(" ")), columns // 2)]
    row = _ROW.match(line)
    hanging = " " * width(row[0]) if row else begin and f"{begin}  "
    flow = Flow(columns, hanging if len(hanging) <= columns // 2 else begin)
    text = flow.feed(begin + line.lstrip(" ")) + flow.end()
    return [item.rstrip(" ") for item in text.split("\n")]


class Flow:
    """A text that comes in pieces, wrapped as it comes. A word is held back until it is known to be whole.

    Args:
        columns: The terminal's width.
        indent: What a line that was broken goes on with.
    """

    def __init__(self, columns: int, indent: str = "") -> None:
        self._columns = max(columns, 8)
        self._indent = indent
        self._used = 0
        self._gap = ""
        self._word = ""

    def feed(self, piece: str) -> str:
        """Take the next piece; return what can be written now."""
        ready = ""
        for token in _tokens().finditer(piece):
            if token["word"]:
                self._word += token["word"]
                continue
            ready += self._placed()
            if token["gap"]:
                self._gap += token["gap"]
            elif token["wide"]:
                self._word = token["wide"]
                ready += self._placed()
            else:
                ready += "\n"
                self._gap, self._used = "", 0
        return ready

    def end(self) -> str:
        """Return what was held back; the next piece begins a text of its own."""
        rest = self._placed()
        self._gap, self._used = "", 0
        return rest

    def _placed(self) -> str:
        """Return the word that is complete, after its gap or on a line of its own."""
        word, self._word = self._word, ""
        if not word:
            return ""
        gap, self._gap = self._gap, ""
        room = self._columns - self._used - width(gap)
        if width(word) <= room:
            self._used += width(gap + word)
            return gap + word
        fresh = self._columns - len(self._indent)
        if width(word) > fresh:
            return self._broken(gap, word, room)
        self._used = len(self._indent) + width(word)
        return f"\n{self._indent}{word}"

    def _broken(self, gap: str, word: str, room: int) -> str:
        """Return a word that fits no line: broken after a slash, else wherever the line ends."""
        text = gap if room > 0 else f"\n{self._indent}"
        room = room if room > 0 else self._columns - len(self._indent)
        for part in _pieces(word, self._columns - len(self._indent)):
            if width(part) > room:
                text += f"\n{self._indent}"
                room = self._columns - len(self._indent)
            text += part
            room -= width(part)
        self._used = self._columns - room
        return text


def _pieces(word: str, columns: int) -> list[str]:
    pieces = []
    for joint in _JOINTS.findall(word):
        if width(joint) <= columns:
            pieces.append(joint)
            continue
        from wcwidth import iter_graphemes  # noqa: PLC0415 - see width

        pieces += list(iter_graphemes(joint))
    return pieces
