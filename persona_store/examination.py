"""What is wrong with a text, whoever wrote it: one pass over all rules, remembered by hash.

The result holds rules and offsets and never a piece of the text, so it may be cached, logged and sent.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import Final, NamedTuple

from persona_store.credentials import first_credential
from persona_store.directives import first_directive
from persona_store.exfiltration import first_leak
from persona_store.folding import COMPATIBLE
from persona_store.hidden import concealed, first_hidden
from persona_store.reading import read
from persona_store.structure import first_forgery

RULES_VERSION: Final = 2
"""Raised with every change of a rule: a verdict or an approval belongs to the rules it was given under."""

MAX_CHARACTERS: Final = 8_192
"""The longest text that is read at all; nothing longer reaches a pattern."""

CACHE_SIZE: Final = 4_096
"""How many verdicts are remembered; each is a hash and a rule, never a text."""


class Finding(NamedTuple):
    """One rule that a text breaks."""

    rule: str
    """Family and name, such as ``secret.github-token``."""
    offset: int
    """Position in characters from the start of the text."""
    code_point: str = ""
    """For hidden characters, which one: ``U+200B``."""
    conceals: str = ""
    """For hidden characters that spell something: the rule which that breaks, if it breaks one."""


class Examination(NamedTuple):
    """What was found: a reason to refuse, and a directive, which the origin judges."""

    refusal: Finding | None
    directive: Finding | None


def digest(text: str) -> str:
    """Return the SHA-256 of the text in hexadecimal; lone surrogates count as themselves."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# Ordered, since that gives its oldest up in one step: other threads add to it meanwhile.
_cache: OrderedDict[str, Examination] = OrderedDict()


def examine(text: str) -> Examination:
    """Return what the rules find in a text, from the cache where it was seen before."""
    if len(text) > MAX_CHARACTERS:
        return Examination(Finding("size.characters", MAX_CHARACTERS), None)
    key = digest(text)
    known = _cache.get(key)
    if known is None:
        known = _cache[key] = examine_anew(text)
        while len(_cache) > CACHE_SIZE:
            _cache.popitem(last=False)
    return known


def examine_anew(text: str) -> Examination:
    """Return what the rules find in a text, without the cache; ``examine`` is the one to call."""
    hidden = first_hidden(text)
    if hidden is not None:
        return Examination(Finding(*hidden, _rule_inside(concealed(text))), None)
    reading = read(text)
    secret = first_credential(text, reading.layers)
    if secret is not None:
        return Examination(Finding(*secret), None)
    plain = text if text.isascii() else COMPATIBLE.of(text)
    for forged in (first_forgery(plain), first_leak(plain)):
        if forged is not None:
            return Examination(Finding(forged.rule, COMPATIBLE.origin(text, forged.offset)), None)
    for layer in reading.layers:
        leak = first_leak(layer.text) if layer.how == "escaped" else None
        if leak is not None:
            return Examination(Finding(f"{leak.rule}.{layer.how}", layer.offset), None)
    directive = first_directive(reading)
    return Examination(None, Finding(*directive) if directive is not None else None)


def _rule_inside(spelt: str) -> str:
    """Return the rule that what hidden characters spell would break in plain sight, or ``""``."""
    if not spelt or first_hidden(spelt) is not None:
        return ""
    refusal, directive = examine_anew(spelt)
    found = refusal or directive
    return found.rule if found is not None else ""
