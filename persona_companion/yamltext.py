"""YAML as people write it, read as plain values that remember their lines.

YAML 1.2 without its sharp edges: one document, no aliases (a few lines of them can name a billion values), no tags, no
merge keys, no key twice. The only door to ruamel.yaml.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from persona_hooks.speech import phrase

if TYPE_CHECKING:
    from collections.abc import Iterator

YamlValue = str | int | float | bool | None | list["YamlValue"] | dict[str, "YamlValue"]
Place = tuple[str | int, ...]

_TAG: Final = "tag:yaml.org,2002:"
# A directive could turn the reader back to YAML 1.1, where ``no`` is false.
_DIRECTIVE: Final = re.compile(r"\A(?:[ \t]*(?:#[^\n]*)?\n)*%")
_MAX_DIGITS: Final = 18
_MAX_OPEN: Final = 100


class YamlError(Exception):
    """The text is not what is read here; ``line`` counts from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


@dataclass(slots=True)
class YamlMapping:
    """The outermost mapping.

    Attributes:
        values: Plain data.
        lines: The line of every key and item, by its place: ``("notebook", "sets", 0)``.
    """

    values: dict[str, YamlValue]
    lines: dict[Place, int] = field(default_factory=dict)

    def line(self, place: Place) -> int:
        """Return the line of ``place``, or of the nearest value around it."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)


def load(text: str) -> YamlMapping:
    """Return the mapping that ``text`` holds.

    Raises:
        YamlError: It is no YAML, no mapping, or uses what is not read here. The message never quotes a value.
    """
    if _DIRECTIVE.match(text):
        raise YamlError(1, phrase("directives are not read here; remove the line that begins with %"))
    _check_depth(text)
    root = _compose(text)
    if root is None:
        raise YamlError(1, phrase("it is empty"))
    reader = _Reader()
    values = reader.value(root, ())
    if not isinstance(values, dict):
        raise YamlError(1, phrase("it must be a mapping of keys to values"))
    return YamlMapping(values, reader.lines)


def _check_depth(text: str) -> None:
    """Refuse brackets inside brackets inside brackets: ruamel spends seconds on them before it gives up."""
    depth = 0
    for match in re.finditer(r"[\[{\]}]", text):
        depth = depth + 1 if match[0] in "[{" else max(0, depth - 1)
        if depth > _MAX_OPEN:
            raise YamlError(text.count("\n", 0, match.start()) + 1, phrase("it is nested too deeply"))


def _compose(text: str) -> Any:  # noqa: ANN401 - ruamel's node, which it does not type
    from ruamel.yaml import YAML  # noqa: PLC0415 - slow to import; only briefs need it
    from ruamel.yaml.error import MarkedYAMLError, YAMLError  # noqa: PLC0415 - the same

    try:
        return YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(
            mark.line + 1 if mark else 1, phrase("this is not YAML ({problem})", problem=error.problem)
        ) from None
    except (YAMLError, ValueError):
        raise YamlError(1, phrase("it holds characters that YAML does not allow")) from None
    except RecursionError:
        raise YamlError(1, phrase("it is nested too deeply")) from None


@dataclass(slots=True)
class _Reader:
    """Turns nodes into values; a node met twice is an alias."""

    lines: dict[Place, int] = field(default_factory=dict)
    _seen: set[int] = field(default_factory=set)

    def value(self, node: Any, place: Place) -> YamlValue:  # noqa: ANN401 - ruamel's node
        line = node.start_mark.line + 1
        if id(node) in self._seen:
            raise YamlError(line, phrase("aliases are not read here; write the value out"))
        self._seen.add(id(node))
        self.lines.setdefault(place, line)
        shape, kind = str(node.id), str(node.tag).removeprefix(_TAG)
        if (shape, kind) == ("mapping", "map"):
            return dict(self._members(node, place))
        if (shape, kind) == ("sequence", "seq"):
            return [self.value(item, (*place, index)) for index, item in enumerate(node.value)]
        return _scalar(kind if shape == "scalar" else "", node.value, line)

    def _members(self, node: Any, place: Place) -> Iterator[tuple[str, YamlValue]]:  # noqa: ANN401 - ruamel's node
        keys: set[str] = set()
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            key = key_node.value
            if not isinstance(key, str):
                raise YamlError(line, phrase("a key must be a plain word"))
            if str(key_node.tag) == f"{_TAG}merge":
                raise YamlError(line, phrase("merge keys are not read here; write the values out"))
            if key in keys:
                raise YamlError(line, phrase("this key stands here twice"))
            keys.add(key)
            self.lines[*place, key] = line
            yield key, self.value(value_node, (*place, key))


def _scalar(kind: str, text: str, line: int) -> YamlValue:
    try:
        return _plain(kind, text)
    except KeyError:
        raise YamlError(line, phrase("tags are not read here; remove the word that begins with !")) from None
    except OverflowError:
        raise YamlError(
            line, phrase("a number is finite and has at most {digits} digits; quote a text", digits=_MAX_DIGITS)
        ) from None
    except ValueError:
        raise YamlError(line, phrase("this is not the kind of value that its tag says")) from None


def _plain(kind: str, text: str) -> YamlValue:
    # YAML 1.2 has no dates; a lone "=" is a word as well.
    if kind in {"str", "timestamp", "value"}:
        return text
    if kind == "null":
        return None
    if kind == "bool":
        return {"true": True, "false": False}[text.lower()]
    if kind not in {"int", "float"}:
        raise KeyError(kind)
    digits = text.replace("_", "").lower()
    if len(digits) > _MAX_DIGITS or "inf" in digits or "nan" in digits:
        raise OverflowError
    if kind == "int":
        return int(digits, {"0o": 8, "0x": 16, "0b": 2}.get(digits.lstrip("+-")[:2], 10))
    number = float(digits)
    if not math.isfinite(number):
        raise OverflowError
    return number
