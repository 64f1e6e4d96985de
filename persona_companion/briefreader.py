"""Reading briefs: a folder's ``brief.yml``, or Markdown whose front matter says ``name`` and ``persona: true``.

Keys that this release does not know are kept in ``Brief.extra`` and ``Brief.notebook``, never refused. Whatever is
wrong is a ``Fault`` with file and line.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Final, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from persona_companion.briefs import MAX_PROMPT, Brief, BriefOrigin
from persona_companion.faults import Fault, FaultError
from persona_companion.names import MAX_NAME, canonical, check
from persona_companion.roles import is_role, unknown_role
from persona_companion.yamltext import Place, YamlError, YamlMapping, load
from persona_hooks.errors import RefusedError
from persona_hooks.naming import to_camel
from persona_hooks.rules import broken
from persona_hooks.speech import phrase
from persona_hooks.wellformed import is_path
from persona_store.hidden import first_hidden

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_BRIEF_BYTES: Final = 64 * 1024
_MAX_PART: Final = 255
"""Bytes of a file's name; no file system of today takes more."""
_FENCES: Final = frozenset({"---", "..."})


class _Fields(BaseModel):
    """The keys of a brief that are understood here."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow", alias_generator=to_camel, defer_build=True)

    name: Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
    description: Annotated[str, Field(max_length=500)] = ""
    prompt: Annotated[str, Field(max_length=MAX_PROMPT)] = ""
    prompt_file: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    objective: Annotated[str, Field(max_length=2_000)] = ""
    role: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    model: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    notebook: dict[str, object] | None = None


_TEXTS: Final = tuple(name for name in _Fields.model_fields if name != "notebook")
_KNOWN: Final = frozenset(to_camel(name) for name in _Fields.model_fields)


@dataclass(frozen=True, slots=True)
class Draft:
    """A brief whose prompt may still lie in another file.

    Attributes:
        prompt_file: The way to it below the brief's folder; None where the prompt is in the brief.
        line: Where the brief names it.
    """

    brief: Brief
    prompt_file: tuple[str, ...] | None = None
    line: int = 1


def read_folder(path: Path, data: bytes, origin: BriefOrigin) -> Draft:
    """Return the brief in the bytes of a ``brief.yml``.

    Raises:
        FaultError: It is no brief; the fault names the line.
    """
    source = _Source.of(path, decode(path, data), origin)
    fields = source.fields()
    if fields.prompt_file is None:
        return Draft(source.brief(fields, fields.prompt, source.line("prompt")))
    if fields.prompt:
        source.stop(("promptFile",), "give prompt or promptFile, not both")
    parts = tuple(fields.prompt_file.split("/"))
    inside = "\\" not in fields.prompt_file and not any(
        part in {"", ".", ".."} or len(part.encode()) > _MAX_PART for part in parts
    )
    if not (inside and is_path(path.parent.joinpath(*parts))):
        source.stop(("promptFile",), "it must be a file inside the persona's folder")
    return Draft(source.brief(fields, "", None), parts, source.line("promptFile"))


def read_markdown(path: Path, data: bytes, origin: BriefOrigin) -> Brief | None:
    """Return the brief in the bytes of a Markdown file, or None where the file does not claim to be one.

    Raises:
        FaultError: It claims to be a persona and is no brief; the fault names the line.
    """
    end = _front_matter(data)
    if end is None:
        return None
    lines = decode(path, data).replace("\r\n", "\n").split("\n")
    if end >= len(lines):
        raise FaultError(Fault(path, phrase("the front matter is not closed; add a line of three dashes"), 1))
    source = _Source.of(path, "\n".join(lines[1:end]), origin, above=1)
    persona = source.mapping.values.pop("persona", None)
    if persona is not True:
        return None if persona is False else source.stop(("persona",), "it must be true")
    for key in ("prompt", "promptFile"):
        if key in source.mapping.values:
            source.stop((key,), "the text below the front matter is the prompt")
    return source.brief(source.fields(), "\n".join(lines[end + 1 :]), end + 2)


def claims(data: bytes) -> bool:
    """Return whether a Markdown file says anything about being a persona, be it that it is none."""
    return _front_matter(data) is not None


def with_prompt(draft: Draft, path: Path, data: bytes) -> Brief:
    """Return the brief with the prompt that the file it names holds.

    Raises:
        FaultError: That is no text, or a prompt too long.
    """
    return _prompted(draft.brief, decode(path, data), path, 1)


def decode(path: Path, data: bytes) -> str:
    """Return the text of a file that people edit.

    Raises:
        FaultError: It is not UTF-8, or holds a hidden or control character; the fault names the line.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FaultError(Fault(path, phrase("it is not UTF-8"), data.count(b"\n", 0, error.start) + 1)) from None
    hidden = first_hidden(text)
    if hidden is not None:
        line = text.count("\n", 0, hidden.offset) + 1
        raise FaultError(
            Fault(
                path, phrase("it holds a character that nobody sees ({code_point})", code_point=hidden.code_point), line
            )
        )
    return text


def _front_matter(data: bytes) -> int | None:
    """Return the line that closes a front matter with a ``persona`` key, or None where there is no such thing."""
    lines = data.decode("utf-8-sig", "replace").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != "---":
        return None
    end = next((n for n, line in enumerate(lines) if n and line.rstrip() in _FENCES), len(lines))
    claims = any(line.partition(":")[0].strip(" \"'") == "persona" for line in lines[1:end] if ":" in line)
    return end if claims else None


def _prompted(brief: Brief, text: str, path: Path, line: int) -> Brief:
    prompt = text.strip()
    if len(prompt) > MAX_PROMPT:
        raise FaultError(
            Fault(path, phrase("the prompt has more than {limit} characters", limit=MAX_PROMPT), line, "prompt")
        )
    if prompt:
        return replace(brief, prompt=prompt)
    return replace(
        brief, warnings=(*brief.warnings, Fault(path, phrase("it has no prompt"), line, "prompt", fatal=False))
    )


def _of(field: str, what: str) -> str:
    return phrase("{field}: {what}", field=field, what=what) if field else what


@dataclass(frozen=True, slots=True)
class _Source:
    """One parsed file, which knows where its keys stand; ``above`` is the number of lines before the YAML."""

    path: Path
    mapping: YamlMapping
    origin: BriefOrigin
    above: int = 0

    @classmethod
    def of(cls, path: Path, text: str, origin: BriefOrigin, above: int = 0) -> _Source:
        try:
            return cls(path, load(text), origin, above)
        except YamlError as error:
            raise FaultError(Fault(path, error.message, error.line + above)) from None

    def line(self, *place: str | int) -> int:
        return self.mapping.line(place) + self.above

    def stop(self, place: Place, message: str) -> NoReturn:
        field = str(place[0]) if place else ""
        raise FaultError(Fault(self.path, _of(field, message), self.line(*place), field))

    def fields(self) -> _Fields:
        try:
            fields = _Fields.model_validate(self.mapping.values)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            # The place may pass through keys of the author's own; only the outermost is surely one of ours.
            self.stop(tuple(first["loc"]), broken(first))
        for name in _TEXTS:
            # An escape such as "\u200b" is innocent in the file and hidden in the value.
            if first_hidden(getattr(fields, name) or "") is not None:
                self.stop((to_camel(name),), phrase("it holds a character that nobody sees"))
        return fields

    def brief(self, fields: _Fields, prompt: str, line: int | None) -> Brief:
        """Return the brief; without ``line`` its prompt is still to come."""
        name = canonical(fields.name)
        try:
            check(name)
        except RefusedError as error:
            self.stop(("name",), error.message)
        values = self.mapping.values
        notebook = values.get("notebook")
        brief = Brief(
            name=name,
            path=self.path,
            line=self.line("name"),
            origin=self.origin,
            description=" ".join(fields.description.split()),
            objective=fields.objective.strip(),
            role=fields.role,
            model=fields.model,
            notebook=MappingProxyType(notebook) if isinstance(notebook, dict) else None,
            extra=MappingProxyType({key: value for key, value in values.items() if key not in _KNOWN}),
            warnings=tuple(self._unknown_roles()),
        )
        return brief if line is None else _prompted(brief, prompt, self.path, line)

    def _unknown_roles(self) -> Iterator[Fault]:
        for place in (("role",), ("notebook", "extraction", "role")):
            value: object = self.mapping.values
            for key in place:
                value = value.get(key) if isinstance(value, dict) else None
            if isinstance(value, str) and not is_role(value):
                field = ".".join(place)
                yield Fault(
                    self.path,
                    phrase("{field}: {what}", field=field, what=unknown_role()),
                    self.line(*place),
                    field,
                    fatal=False,
                )
