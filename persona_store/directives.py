"""Text that reads like an order to whoever reads it, instead of a fact.

Rules stand on words, not on characters: a rule waits for a trigger word and looks a bounded number of words
ahead, so one pass over the words serves all rules and its cost is linear. What a hit means is not decided here:
the user may order, a stranger may not (``persona_store.admission``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from persona_store.directive_rules import Rule, distant_by_trigger, hints_by_trigger, rules_by_trigger
from persona_store.folding import FOLDED, STOP, Words, words_of
from persona_store.patterns import Pattern

if TYPE_CHECKING:
    from persona_store.reading import Reading


class Directive(NamedTuple):
    """The rule that a text meets, and where."""

    rule: str
    offset: int


_KINDS_FOR_JAILBREAK: Final = 3

# Before an order there may stand nothing, a sentence end, or a word that leads into it.
_LEADS: Final = frozenset(
    (
        ".",
        ":",
        "and",
        "then",
        "please",
        "now",
        "just",
        "also",
        "must",
        "but",
        "so",
        "kindly",
        "immediately",
        "first",
        "instead",
        "you",
        "always",
        "never",
        "simply",
        "quietly",
        "silently",
        "secretly",
        "e",
        "und",
        "bitte",
        "dann",
        "y",
        "por",
        "favor",
        "et",
        "puis",
        "ou",
        "o",
        "poi",
        "en",
        "dan",
        "alsjeblieft",
        "nu",
    )
)
_SUBJECTS: Final = frozenset(
    (
        "i",
        "we",
        "they",
        "he",
        "she",
        "it",
        "who",
        "id",
        "ill",
        "wed",
        "theyd",
        "hed",
        "shed",
        "io",
        "noi",
        "ich",
        "wir",
        "je",
        "nous",
        "yo",
        "eu",
        "nos",
        "eles",
        "ik",
        "wij",
    )
)


def first_directive(reading: Reading) -> Directive | None:
    """Return the first directive in a text, or None. Encoded passages are read as well."""
    text = reading.text
    role = _forged_role(reading.folded)
    if role is not None:
        return Directive("directive.forged-role", FOLDED.origin(text, role))
    hit = _first_hit(reading.words)
    if hit is not None:
        return Directive(hit.rule, FOLDED.origin(text, hit.offset))
    for layer in reading.layers:
        hit = _first_hit(words_of(FOLDED.of(layer.text)))
        if hit is not None:
            return Directive(f"{hit.rule}.{layer.how}", layer.offset)
    return None


_ROLE: Final = Pattern(
    r"(?m:^)[^\w\n]{0,8}(?P<role>system|assistant|human|user|developer|ai|bot)"
    r"(?: (?:note|message|prompt|update|override|instructions?|notice|alert))?[^\w\n]{0,4}:"
    r"(?P<order>\s{0,8}(?:you |your |sure|of course|ignore|new |grant |call |override|from now|cleanup|always |never "
    r"|do not |don't |reveal|the user |this user|disregard|forget|i will |i have |approved|access |safety))?"
)
# Turns of well-known templates: a heading that names a speaker, a speaker after an empty line, a message as JSON.
_TURN: Final = Pattern(
    r"(?m:^)[ \t]{0,4}#{2,4} ?(?:instruction|system|human|assistant) ?:"
    r"|\n[ \t]{0,4}\n[ \t]{0,4}(?:human|assistant): ?\w"
    r"|\\?[\"']role\\?[\"']\s{0,4}:\s{0,4}\\?[\"'](?:system|developer|assistant)\\?[\"']"
)
_END_MARK: Final = Pattern(
    r"(?m:^)\W{0,12}(?:end|begin|start) (?:of )?(?:the )?(?:user|system|document|prompt|input|context|instructions?"
    r"|conversation|tool|untrusted|trusted)(?: (?:input|prompt|message|instructions?|output|data|content|turn))?"
    r"\W{0,12}(?:\n|$)"
)


def _forged_role(folded: str) -> int | None:
    """Return where a transcript is imitated: a role that gives an order, two roles that talk, an end mark."""
    if ":" not in folded and "\n" not in folded:
        return None
    for marks in (_END_MARK, _TURN):
        mark = marks.re.search(folded)
        if mark is not None:
            return mark.start()
    seen: dict[str, int] = {}
    for line in _ROLE.re.finditer(folded):
        role = line["role"]
        if line["order"] and role in {"system", "assistant", "developer"}:
            return line.start()
        seen[role] = line.start()
    if ("user" in seen and "assistant" in seen) or ("human" in seen and "ai" in seen):
        return min(seen.values())
    return None


def _first_hit(words: Words) -> Directive | None:
    rules, distant, hints = rules_by_trigger(), distant_by_trigger(), hints_by_trigger()
    kinds: dict[str, int] = {}
    verb: int | None = None
    for index, word in enumerate(words.words):
        for rule in rules.get(word, ()):
            if _may_open(rule, words.words, index) and rule.pattern.match(words.line, words.at[index]):
                return Directive(f"directive.{rule.name}", words.origin[index])
        for half in distant.get(word, ()):
            if half.name == "verb" and verb is None and _may_open(half, words.words, index):
                verb = words.origin[index]
            elif half.name == "object" and verb is not None and half.pattern.match(words.line, words.at[index]):
                return Directive("directive.override", verb)
        for hint in hints.get(word, ()):
            if hint.name not in kinds and hint.pattern.match(words.line, words.at[index]):
                kinds[hint.name] = words.origin[index]
    if len(kinds) >= _KINDS_FOR_JAILBREAK:
        return Directive("directive.jailbreak", min(kinds.values()))
    return None


def _may_open(rule: Rule, words: list[str], index: int) -> bool:
    before = words[index - 1] if index else STOP
    if rule.opens:
        return before in _LEADS
    return before not in _SUBJECTS
