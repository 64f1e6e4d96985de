"""The catalogues of messages: collected from the source and from the verbs, brought up to date, compiled.

English stands in the source. A language is a directory ``locale/<language>`` in every package that speaks; making it,
with an empty file ``LC_MESSAGES/<package>.po``, adds one. A message that has no translation is shown in English.
"""

from __future__ import annotations

import ast
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from persona_hooks.fields import parameters_of
from persona_hooks.speech import literal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from persona_hooks.verbs import AnyVerb, Registry

PACKAGES: Final = ("persona_hooks", "persona_store", "persona_companion", "persona_mind", "persona_host")
KEYWORDS: Final = {"say": 1, "phrase": 1, "marked": 1, "say_n": 2, "phrase_n": 2}
"""The functions of ``persona_hooks.speech`` that are given messages, and how many."""
# The same every time, so that a catalogue changes only with its messages.
_MADE: Final = datetime(2026, 1, 1, tzinfo=UTC)


_HEADERS: Final[Any] = vars(Catalog)["mime_headers"]


class Plain(Catalog):
    """A catalogue that does not say by which release of the tools it was written."""

    @property
    def mime_headers(self) -> Any:  # noqa: ANN401 - a list of pairs; the base class has no types for it
        """Return its headers."""
        return [header for header in _HEADERS.fget(self) if header[0] != "Generated-By"]

    @mime_headers.setter
    def mime_headers(self, headers: Any) -> None:  # noqa: ANN401 - as above
        _HEADERS.fset(self, headers)


def folder_of(root: Path, package: str) -> Path:
    """Return the directory of a package."""
    return root / ("hooks/persona_hooks" if package == "persona_hooks" else package)


def template(root: Path, package: str, registry: Registry) -> Catalog:
    """Return every message of a package, untranslated."""
    found = Catalog(domain=package, creation_date=_MADE, fuzzy=False)
    source = folder_of(root, package)
    for path in sorted(source.rglob("*.py")):
        for message in messages_of(path.read_text("utf-8")):
            found.add(message, locations=[(f"{package}/{path.relative_to(source).as_posix()}", 0)])
    for verb in registry:
        if verb.params.__module__.partition(".")[0] == package and "person" in verb.shown_to:
            for text in texts_of(verb):
                found.add(literal(text), locations=[(verb.params.__module__.replace(".", "/") + ".py", 0)])
    return found


def messages_of(source: str) -> Iterator[str | tuple[str, str]]:
    """Yield every message in a module, those within f-strings included."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KEYWORDS:
            texts = [item.value for item in node.args[: KEYWORDS[node.func.id]] if isinstance(item, ast.Constant)]
            match texts:
                case [str(one)]:
                    yield one
                case [str(one), str(many)]:
                    yield one, many
                case _:
                    pass  # made elsewhere, of what is a message there


def texts_of(verb: AnyVerb) -> Iterator[str]:
    """Yield what `/help` tells of a verb: its summary, and what its parameters mean."""
    yield verb.summary
    yield from (parameter.description for parameter in parameters_of(verb) if parameter.description)


def catalogues(root: Path, registry: Registry) -> dict[Path, bytes]:
    """Return the content of every catalogue, for people (``.po``) and for programs (``.mo``)."""
    generated: dict[Path, bytes] = {}
    for package in PACKAGES:
        messages = template(root, package, registry)
        for path in sorted(folder_of(root, package).glob(f"locale/*/LC_MESSAGES/{package}.po")):
            with path.open("rb") as file:
                known = read_po(file, locale=path.parent.parent.name)
            text, compiled = BytesIO(), BytesIO()
            write_po(text, _updated(known, messages), width=120, sort_output=True, include_lineno=False)
            write_mo(compiled, _updated(known, messages, whole=False))
            generated |= {path: text.getvalue(), path.with_suffix(".mo"): compiled.getvalue()}
    return generated


def _updated(known: Catalog, messages: Catalog, *, whole: bool = True) -> Catalog:
    """Return a catalogue of the messages there are now; without ``whole``, of those that are translated.

    What is no message any more goes; a message that was changed is a new one, and is looked at anew.
    """
    us = "the maintainers"
    after = Plain(known.locale, project="persona-mind", version="1", last_translator=us, msgid_bugs_address=us)
    after.creation_date = after.revision_date = _MADE
    after.language_team, after.fuzzy = us, False
    after.header_comment = f"# The messages of {messages.domain}."
    # How many forms a plural has is the catalogue's own word.
    after.mime_headers = [("Plural-Forms", known.plural_forms), ("Content-Type", "text/plain; charset=utf-8")]
    for message in messages:
        found = known.get(message.id) if message.id else None
        translated = found is not None and all(found.string if isinstance(found.string, tuple) else [found.string])
        if message.id and (whole or translated):
            text = found.string if found is not None and translated else None
            after.add(message.id, text, locations=message.locations, flags=message.flags)
    return after
