"""One language's cues, read from its data file on first use.

A file holds lists of phrases. A phrase is a regular expression in which a space matches any white space and an
apostrophe matches either kind; case does not count. A new language is a new file, and nothing else.

``form`` says what must follow a strong phrase:

- ``statement``: a linked clause ("that …"), a colon or comma, or, bare, a clause with a verb that is no errand,
  question or shared past;
- ``standing``: anything that is not a story or a question;
- ``request``: an instruction.

A line that takes the words back, gives them to somebody else or is common wisdom is never written, whatever its form.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Form = Literal["statement", "standing", "request"]
CueKind = Literal["rationale", "convention", "preference", "note"]

LANGUAGES: Final = "languages"
_PLAIN: Final = (
    "errands", "maxims", "orders", "tangled", "from_now", "afterwards", "hands_over", "salutations", "headers",
)  # fmt: skip


class Phrases:
    """Alternatives to look for, compiled when they are first looked for: most messages need few of them."""

    __slots__ = ("_pattern", "_source")

    def __init__(self, source: str) -> None:
        self._source = source
        self._pattern: re.Pattern[str] | None = None

    @property
    def pattern(self) -> re.Pattern[str]:
        """The compiled alternatives."""
        if self._pattern is None:
            self._pattern = re.compile(self._source, re.IGNORECASE)
        return self._pattern

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        """Return where one of them stands at ``start``."""
        return self.pattern.match(text, start)

    def search(self, text: str, start: int = 0) -> re.Match[str] | None:
        """Return where the first of them stands, from ``start`` on."""
        return self.pattern.search(text, start)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Return whether the text is one of them."""
        return self.pattern.fullmatch(text)


@dataclass(frozen=True, slots=True)
class Strong:
    """Phrases that begin a sentence which is written without asking the model.

    Attributes:
        phrase: Matches at the start.
        link: Follows it: what comes then is a clause.
        listed: Follows it, with a colon: what comes then is the rest of the paragraph.
    """

    kind: CueKind
    form: Form
    phrase: Phrases
    link: Phrases
    listed: Phrases


@dataclass(frozen=True, slots=True)
class Decision:
    """A lasting decision told directly: who, did what, how lasting, a decision; and what makes it hearsay."""

    owners: Phrases
    verbs: Phrases
    lasting: Phrases
    nouns: Phrases
    hearsay: Phrases


@dataclass(frozen=True, slots=True)
class Language:
    """The cues of one language. Patterns named after a place match there; the others are searched.

    Attributes:
        hint: Searched in a whole message, in small letters: without it, no phrase of the language is in there.
        lead: What may stand before a cue; ``opening`` takes emphasis in as well.
        errands: Something to do once, which is no fact.
        maxims: Comfort and common wisdom, after the words that ask.
        orders: Begin a sentence whose ``from_now`` may follow later, if nothing of ``tangled`` is in it.
        afterwards: Ask to remember what stands before; ``trailing`` in the same sentence.
        disowns: Takes back, as a sentence; ``taken_back`` takes back or gives away, at the end of one.
        hands_over: Begins a task on the text of the lines that follow.
        salutations: Begin a letter; ``headers`` the head of a mail.
    """

    name: str
    hint: Phrases
    lead: Phrases
    opening: Phrases
    questions: Phrases
    clause: Phrases
    not_after: Phrases
    past_after: Phrases
    not_standing: Phrases
    instruction: Phrases
    reports: Phrases
    labels: Phrases
    abbreviation: Phrases
    goes_on: Phrases
    errands: Phrases
    maxims: Phrases
    orders: Phrases
    tangled: Phrases
    from_now: Phrases
    afterwards: Phrases
    trailing: Phrases
    disowns: Phrases
    taken_back: Phrases
    hands_over: Phrases
    salutations: Phrases
    headers: Phrases
    heads: tuple[tuple[CueKind, Phrases], ...]
    strong: tuple[Strong, ...]
    decision: Decision
    weak: tuple[tuple[CueKind, Phrases], ...]

    def asks_to_remember(self, text: str) -> bool:
        """Return whether a text begins with a strong phrase, whatever follows it."""
        opening = self.opening.match(text)
        start = opening.end() if opening else 0
        return any(cue.phrase.match(text, start) or cue.phrase.match(text) for cue in self.strong)

    def asks_to_work_on(self, text: str) -> bool:
        """Return whether a text begins with a task on another one, such as a translation."""
        lead = self.lead.match(text)
        return bool(self.hands_over.match(text, lead.end() if lead else 0))


@cache
def languages() -> tuple[Language, ...]:
    """Return every language there is a file for, compiled once a process, in order of their names."""
    folder = files(__package__) / LANGUAGES
    found = sorted((item for item in folder.iterdir() if item.name.endswith(".toml")), key=lambda item: item.name)
    return tuple(compiled(tomllib.loads(item.read_text(encoding="utf-8"))) for item in found)


def compiled(data: Mapping[str, Any]) -> Language:
    """Return the language that a data file describes.

    Raises:
        KeyError: A list is missing.
    """
    decision = data["decision"]
    return Language(
        name=data["name"],
        hint=_hint(data),
        lead=_lead(data),
        opening=_opening(data),
        questions=_word(data["questions"]),
        clause=_word(data["clause"]),
        not_after=_word(data["not_after"]),
        past_after=_any(data["past_after"]),
        not_standing=_word(data["not_standing"]),
        instruction=_word(data["instruction"]),
        reports=_word([*data["reports"], *data["handed_over"]]),
        labels=_any([*data["labels"], *data["lead_ins"]]),
        abbreviation=Phrases(rf"(?<!\w)(?:{_alternatives(data['abbreviations'])}|\w)\.$"),
        goes_on=_word(data["goes_on"]),
        **{name: _word(data[name]) for name in _PLAIN},
        trailing=_ending(data["afterwards"]),
        disowns=_word(data["disowns"]),
        taken_back=_ending([*data["disowns"], *data["attributed"]]),
        heads=tuple((kind, _word(phrases)) for kind, phrases in data["heads"].items()),
        strong=tuple(_strong(entry) for entry in data["strong"]),
        decision=Decision(
            **{name: _word(decision[name]) for name in ("owners", "verbs", "lasting", "nouns", "hearsay")}
        ),
        weak=tuple((entry["kind"], _word(entry["phrases"])) for entry in data["weak"]),
    )


def _strong(entry: Mapping[str, Any]) -> Strong:
    never = Phrases(r"(?!)")
    return Strong(
        kind=entry["kind"],
        form=entry["form"],
        phrase=_word(entry["phrases"]),
        link=_word(entry["link"]) if "link" in entry else never,
        listed=Phrases(rf"(?:{_alternatives(entry['list'])})\s*:") if "list" in entry else never,
    )


def _lead(data: Mapping[str, Any]) -> Phrases:
    return Phrases(rf"(?:(?:{_alternatives(data['lead_ins'])})(?:\s*[,:;!.–—-]+\s*|\s+)){{0,3}}")


def _opening(data: Mapping[str, Any]) -> Phrases:
    before = _alternatives(data["lead_ins"])
    emphasis = _alternatives(data["emphasis"])
    return Phrases(rf"(?:(?:{before})(?:\s*[,:;!.–—-]+\s*|\s+)){{0,3}}(?:(?:{emphasis})\s+)?")


def _hint(data: Mapping[str, Any]) -> Phrases:
    """Return a pattern that no cue of the language is without: cheap, since most messages have none."""
    lists = [entry["phrases"] for entry in (*data["strong"], *data["weak"])]
    lists += [data["afterwards"], data["from_now"], data["decision"]["lasting"]]
    found = sorted({phrase for phrases in lists for phrase in phrases})
    by_letter = [
        rf"(?={letter})(?:{_alternatives(group)})" if letter.isalnum() else _alternatives(group)
        for letter, group in ((key, list(group)) for key, group in groupby(found, key=lambda phrase: phrase[0]))
    ]
    return Phrases(rf"(?<!\w)(?:{'|'.join(by_letter)})(?!\w)")


def _ending(phrases: Iterable[str]) -> Phrases:
    return Phrases(rf"\s?[,;:(–—-]{{1,3}}\s?(?:{_alternatives(phrases)})\W{{0,8}}$")


def _word(phrases: Iterable[str]) -> Phrases:
    # "=" and other signs are no words, so the boundary is told by what stands around and not by \b.
    return Phrases(rf"(?<!\w)(?:{_alternatives(phrases)})(?!\w)")


def _any(phrases: Iterable[str]) -> Phrases:
    return Phrases(rf"(?:{_alternatives(phrases)})")


def _alternatives(phrases: Iterable[str]) -> str:
    return "|".join(phrase.replace(" ", r"\s+").replace("'", "['’]") for phrase in phrases)
