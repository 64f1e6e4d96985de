"""Speech: the one gate through which words for people go, in the language that the person reads.

English stands in the source, and is the key under which a translation is found:

    say("Remembered {what}.", what=one_line(text))            words it now
    say_n("{number} fact", "{number} facts", count)           words a number of things now
    phrase("Memory is off {where}.", where=…)                 words it later; until then it is its English
    worded(error.message)                                     words a phrase now, and leaves any other text as it is
    marked("must be at least {ge}")                           marks a message that stands in a table

Messages are literals, since they are collected from the source; ``{name}`` is replaced by the value of that name, and
by nothing else: a value is never read as a message. A value that is a phrase is worded with the message around it.

Programs read English: errors, logs and outcomes hold phrases, which are texts, and only a card or a notice words them.
A card that a model, a script or an MCP client asked for is English, and so is what ``--json`` prints. The language is
a matter of the context (``speaking``): each runtime has a ``Voice`` of its own and enters it at its doors, and threads
that work for it copy its context, so two of them never mix. English needs no catalogue and loads nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ENGLISH: Final = "en"
VARIABLES: Final = ("LC_ALL", "LC_MESSAGES", "LANG")
"""The environment variables that name one; the first that is set counts."""

Spell = Callable[[str], str]
"""Returns a message with the commands in it as they are typed somewhere."""

Value = object
"""What may stand for a placeholder: a text, a number, a path."""


class Catalogue(Protocol):
    """The translations of one language; ``gettext.NullTranslations`` is one."""

    def gettext(self, message: str, /) -> str:
        """Return the translation of ``message``, or ``message`` itself."""

    def ngettext(self, one: str, many: str, number: int, /) -> str:
        """Return the translation that fits ``number``."""


class _Spelt:
    """A catalogue, or English, with the commands in it as one host has them."""

    def __init__(self, spoken: Catalogue | None, spell: Spell) -> None:
        self._spoken = spoken
        self._spell = spell

    def gettext(self, message: str, /) -> str:
        """See ``Catalogue``."""
        return self._spelt(message if self._spoken is None else self._spoken.gettext(message))

    def ngettext(self, one: str, many: str, number: int, /) -> str:
        """See ``Catalogue``."""
        if self._spoken is None:
            return self._spelt(one if number == 1 else many)
        return self._spelt(self._spoken.ngettext(one, many, number))

    def _spelt(self, message: str) -> str:
        return self._spell(message) if "/" in message else message


class Voice:
    """The language of one runtime, and how commands are typed there.

    Args:
        language: Returns it, with whether it may change yet: it is asked at the first word, and from then on only for
            as long as it may.
        spell: Spells the commands that a message names as they are typed where it is read. It is given messages,
            never a value, so that nothing that is quoted changes; without it they stay as in a conversation.
    """

    def __init__(self, language: Callable[[], tuple[str, bool]], spell: Spell | None = None) -> None:
        self._ask = language
        self._spell = spell
        self._known: tuple[Catalogue | None] | None = None

    def spelled(self, text: str) -> str:
        """Return a text of ours with the commands in it as they are typed."""
        return text if self._spell is None else self._spell(text)

    def forget(self) -> None:
        """Ask again at the next word."""
        self._known = None

    def catalogue(self) -> Catalogue | None:
        """Return the translations; None for English, and for a language that there are none of."""
        if self._known is not None:
            return self._known[0]
        language, settled = self._ask()
        found = catalogue(language)
        if self._spell is not None:
            found = _Spelt(found, self._spell)
        if settled:
            self._known = (found,)
        return found


_spoken: ContextVar[Voice] = ContextVar("persona_speech")


IN_ENGLISH: Final = Voice(lambda: (ENGLISH, True))
"""For what programs and command lines read, where no runtime is there to know it."""


@contextmanager
def speaking(voice: Voice) -> Iterator[None]:
    """Word whatever is said inside in the language of ``voice``."""
    before = _spoken.set(voice)
    try:
        yield
    finally:
        _spoken.reset(before)


class Phrase(str):
    """A text in English that is worded later, once it is known for whom; made by ``phrase`` and ``phrase_n``."""

    __slots__ = ("many", "message", "number", "values")

    message: str
    many: str
    number: int
    values: Mapping[str, Value]

    def __new__(cls, message: str, many: str, number: int, values: Mapping[str, Value]) -> Self:
        """Word it in English, which is what it is as a text."""
        self = super().__new__(cls, (many if many and number != 1 else message).format(**values))
        self.message, self.many, self.number, self.values = message, many, number, values
        return self

    def __getnewargs__(self) -> tuple[str, str, int, Mapping[str, Value]]:  # type: ignore[override]
        """Pickle by parts, since errors cross process pools."""
        return self.message, self.many, self.number, self.values

    def replacing(self, one: Phrase, other: Phrase) -> Phrase:
        """Return it with ``other`` wherever ``one`` stands among its values, and among theirs."""
        if self == one:
            return other
        values = {
            name: value.replacing(one, other) if isinstance(value, Phrase) else value
            for name, value in self.values.items()
        }
        return Phrase(self.message, self.many, self.number, values)

    def worded(self, spoken: Catalogue) -> str:
        """Return it in a language; in English where its translation asks for a value that it does not have."""
        if not self.message:  # under which a catalogue keeps its header
            return ""
        found = spoken.ngettext(self.message, self.many, self.number) if self.many else spoken.gettext(self.message)
        values = {
            name: value.worded(spoken) if isinstance(value, Phrase | Thousands) else value
            for name, value in self.values.items()
        }
        try:
            return found.format(**values)
        except (LookupError, ValueError, AttributeError):
            return str(self)


class Thousands(int):
    """A number that a message shows with its thousands set apart; made by ``thousands``."""

    __slots__ = ()

    def __format__(self, _: str) -> str:
        """Return it as English has it."""
        return format(int(self), ",")

    def worded(self, spoken: Catalogue) -> str:
        """Return it in a language."""
        return format(self).replace(",", spoken.gettext(_BETWEEN_THOUSANDS.message))


def phrase(message: str, /, **values: Value) -> Phrase:
    """Return a text that is worded later: for errors, and for outcomes that programs read as well."""
    return Phrase(message, "", 0, values)


_BETWEEN_THOUSANDS: Final = phrase(",")


def phrase_n(one: str, many: str, number: int, /, **values: Value) -> Phrase:
    """Return a text about ``number`` things that is worded later; ``{number}`` stands for it."""
    return Phrase(one, many, number, {"number": number, **values})


def marked(text: str, /) -> str:
    """Return ``text`` as it is: it marks a message in a table, for a ``phrase`` or ``say`` that is given no literal."""
    return text


def literal(text: str, /) -> str:
    """Return a text in which nothing stands for a value as a message."""
    return text.replace("{", "{{").replace("}", "}}")


def say(message: str, /, **values: Value) -> str:
    """Return ``message`` worded for the person who is spoken to."""
    spoken = _spoken_catalogue()
    return message.format(**values) if spoken is None else phrase(message, **values).worded(spoken)


def say_n(one: str, many: str, number: int, /, **values: Value) -> str:
    """Return the message that fits ``number`` things, worded; ``{number}`` stands for it."""
    return worded(phrase_n(one, many, number, **values))


def worded(text: str) -> str:
    """Return a phrase as the person who is spoken to reads it; any other text as it is."""
    if not isinstance(text, Phrase):
        return text
    spoken = _spoken_catalogue()
    return str(text) if spoken is None else text.worded(spoken)


def spelled(text: str) -> str:
    """Return a command, or a text of ours that names some, as it is typed by the person who is spoken to."""
    voice = _spoken.get(None)
    return text if voice is None else voice.spelled(text)


def thousands(number: int) -> Thousands:
    """Return a number that is shown with its thousands set apart."""
    return Thousands(number)


def chosen(environ: Mapping[str, str], setting: object = None) -> str:
    """Return the language that a person chose, ``it`` or ``pt_BR``: by setting, else by environment.

    What is no name of a language, as ``C`` and ``POSIX`` are none, means English.
    """
    given = setting if isinstance(setting, str) and setting else next(filter(None, map(environ.get, VARIABLES)), "")
    language, _, country = given.strip().partition(".")[0].partition("@")[0].replace("-", "_").partition("_")
    named = language.isalpha() and len(language) in {2, 3} and (not country or country.isalnum())
    return f"{language.lower()}_{country}".rstrip("_") if named else ENGLISH


def speaks(package: str) -> None:
    """Say that ``package`` words messages: its catalogues lie in its directory ``locale``."""
    if package not in _packages:
        _packages.append(package)
        catalogue.cache_clear()


# Those that nothing has to load before they speak.
_packages: list[str] = ["persona_hooks", "persona_store"]


@lru_cache(maxsize=8)
def catalogue(language: str) -> Catalogue | None:
    """Return the translations of a language, of all packages that speak; None for English and where there are none."""
    if language.partition("_")[0] == ENGLISH:
        return None
    from gettext import translation  # noqa: PLC0415 - English does without

    found = None
    for package in reversed(_packages):
        module = sys.modules.get(package)
        if module is None or module.__file__ is None:
            continue
        folder = os.path.join(os.path.dirname(module.__file__), "locale")  # noqa: PTH118, PTH120
        try:
            own = translation(package, folder, [language])
        except OSError:
            continue  # it is not translated, or not wholly
        if found is not None:
            own.add_fallback(found)
        found = own
    return found


def _spoken_catalogue() -> Catalogue | None:
    voice = _spoken.get(None)
    return None if voice is None else voice.catalogue()
