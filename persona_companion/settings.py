"""Settings: ``<agentDir>/persona/settings.json``, the companion's file, in which people set what every plugin reads.

    {"persona": {"lastPersona": "kiri", "persist": true},
     "models":  {"default": "openai:NAME",
                 "routing": {"model": "openai:NAME", "baseUrl": "http://localhost:8000/v1", "apiKeyEnv": "MY_KEY"}},
     "mind":    {"enabled": true, "capture": "auto", "nudge": true},
     "sessions": {"recall": true},
     "recall":  {"vectors": "/models/all-MiniLM-L6-v2"},
     "language": "it"}

Every key may be left out, and unknown keys are kept. A malformed value is named with file and field and counts as the
most careful one that is allowed (a mind that is off, say), never as the default; a file that is no JSON object is never
written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from persona_companion.faults import Fault, readable
from persona_companion.names import MAX_NAME
from persona_companion.roles import ROLES, Role, resolve
from persona_companion.slips import slips
from persona_hooks import speech
from persona_hooks.errors import CorruptError, PersonaError
from persona_hooks.messages import Setting
from persona_hooks.naming import to_camel
from persona_hooks.speech import ENGLISH, chosen, phrase
from persona_hooks.switches import is_no

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from persona_store.jsontext import JsonValue

PERSIST: Final = "PI_PERSONA_PERSIST"
_MAX_SOURCE: Final = 512
MAX_VECTORS: Final = 1_024

Capture = Literal["auto", "prompt", "off"]
Value = str | bool | None


class _Section(BaseModel):
    """The base of every section: what is unknown is somebody else's and stays in the file."""

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="ignore",
        alias_generator=to_camel,
        populate_by_name=True,
        defer_build=True,
    )


class PersonaSection(_Section):
    """The companion's own settings."""

    last_persona: Annotated[str, Field(min_length=1, max_length=MAX_NAME)] | None = None
    persist: bool = True


class MindSection(_Section):
    """The mind's preferences."""

    enabled: bool = True
    capture: Capture = "auto"
    nudge: bool = True


class SessionsSection(_Section):
    """What may be done with past conversations."""

    recall: bool = True


class RecallSection(_Section):
    """How what is remembered is found."""

    vectors: Annotated[str, Field(min_length=1, max_length=MAX_VECTORS)] | None = None


class ModelSection(_Section):
    """One role's model. A key never stands here: ``apiKeyEnv`` names the variable that holds it."""

    model: Annotated[str, Field(min_length=1, max_length=256, pattern=r"^\S+$")]
    base_url: Annotated[str, Field(max_length=400, pattern=r"^https?://[^\s@]+$")] | None = None
    api_key_env: Annotated[str, Field(max_length=128, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None


# A malformed value counts as the most careful one.
_CAREFUL: Final[Mapping[str, Mapping[str, object]]] = {
    "persona": {"persist": False},
    "mind": {"enabled": False, "capture": "off", "nudge": False},
    "sessions": {"recall": False},
    "recall": {"vectors": None},
}

_LANGUAGE: Final = "language"
_KNOWN: Final = frozenset(
    {
        *_CAREFUL,
        "models",
        _LANGUAGE,
        *(
            f"{name}.{to_camel(field_name)}"
            for name, kind in (
                ("persona", PersonaSection),
                ("mind", MindSection),
                ("sessions", SessionsSection),
                ("recall", RecallSection),
            )
            for field_name in kind.__annotations__
        ),
    }
)
"""Every setting and section, as it is written in the file."""

S = TypeVar("S", bound=_Section)


@dataclass(frozen=True, slots=True)
class Settings:
    """One reading of the file.

    Attributes:
        path: The file, whether it exists or not.
        persona: The companion's own settings.
        mind: The mind's preferences.
        sessions: What may be done with past conversations.
        recall: How what is remembered is found.
        models: The roles that have a model of their own.
        language: In which a person is spoken to; None where the environment decides.
        faults: What is malformed, by field.
        present: The dotted names of the settings that stand in the file.
        unreadable: Why the file as a whole cannot be read; None where it can.
    """

    path: Path
    persona: PersonaSection = field(default_factory=PersonaSection)
    mind: MindSection = field(default_factory=MindSection)
    sessions: SessionsSection = field(default_factory=SessionsSection)
    recall: RecallSection = field(default_factory=RecallSection)
    models: Mapping[Role, ModelSection] = field(default_factory=dict)
    language: str | None = None
    faults: tuple[Fault, ...] = ()
    present: frozenset[str] = frozenset()
    unreadable: PersonaError | None = None

    def remembered(self) -> str | None:
        """Return the remembered choice, or None where nothing was chosen.

        Raises:
            CorruptError: The file or the field is malformed, so the choice cannot be known.
            PersonaError: The file could not be read.
        """
        if self.unreadable is not None:
            raise self.unreadable
        fault = next((fault for fault in self.faults if fault.field in {"persona", "persona.lastPersona"}), None)
        if fault is not None:
            raise CorruptError(
                phrase("Memory is closed: the remembered persona cannot be read. {fault}.", fault=fault.text),
                reason="bad_settings",
                path=str(self.path),
                field=fault.field,
            )
        return self.persona.last_persona

    def persists(self, environ: Mapping[str, str]) -> bool:
        """Return whether a choice is remembered for later sessions."""
        return self.persona.persist and not is_no(environ.get(PERSIST))

    def effective(self, environ: Mapping[str, str]) -> tuple[Setting, ...]:
        """Return every known setting, each with what decided it.

        Of what is the mind's to decide, this is the file's word only: the mind takes it once a session, lets the
        environment overrule it, and reports the result itself.
        """
        persist = PERSIST if is_no(environ.get(PERSIST)) else None
        found = (
            self.setting("persona.persist", self.persists(environ), persist),
            self.setting("mind.enabled", self.mind.enabled),
            self.setting("mind.capture", self.mind.capture),
            self.setting("mind.nudge", self.mind.nudge),
            self.setting("sessions.recall", self.sessions.recall),
            self.setting("recall.vectors", self.recall.vectors),
        )
        spoken = () if self.language is None else (self.setting(_LANGUAGE, self.language),)
        return (*found, *spoken, *self._models())

    def _models(self) -> Iterable[Setting]:
        """Yield every role's model; a role without one of its own has the default's."""
        for role in ROLES:
            resolved = resolve(self.models, role)
            if resolved.model is None:
                continue
            source = None if resolved.role == role else f"{readable(self.path)} (models.{resolved.role})"
            for key, value in resolved.model.model_dump(by_alias=True, exclude_none=True).items():
                yield self.setting(f"models.{role}.{key}", value, source)

    def setting(self, key: str, value: Value, source: str | None = None) -> Setting:
        """Return one setting; without ``source`` the file is named where it holds the key, or the default is."""
        file = readable(self.path)
        section = key.rpartition(".")[0]
        if source is None and (self.unreadable is not None or any(f.field in {key, section} for f in self.faults)):
            source = f"{file} (malformed)"
        if source is None:
            source = file if key in self.present else "default"
        return Setting(key=key, value=value, source=source[-_MAX_SOURCE:])


class SettingsFile:
    """The file itself. Making one, and reading it, touches nothing on disk.

    Args:
        agent_dir: The agent directory.
    """

    def __init__(self, agent_dir: Path) -> None:
        self.path = agent_dir / "persona" / "settings.json"

    def read(self) -> Settings:
        """Return the settings as they stand; every malformation is in ``faults`` or ``unreadable``."""
        if _is_missing(self.path):
            return Settings(self.path)
        from persona_store.jsonfile import JsonFile  # noqa: PLC0415 - the store's weight, only where there is a file

        try:
            values = JsonFile(self.path, self.path.parent).read().values
        except PersonaError as error:
            careful = MindSection.model_validate(_CAREFUL["mind"])
            sessions = SessionsSection.model_validate(_CAREFUL["sessions"])
            # The fault names the file in its own way.
            fault = Fault(self.path, error.message.removeprefix(str(self.path)).lstrip(": "))
            return Settings(
                self.path, mind=careful, sessions=sessions, faults=(fault,), unreadable=_closed(error, self.path)
            )
        return _parse(self.path, values)

    def remember(self, persona: str | None, check: Callable[[], None]) -> bool:
        """Write the choice, or take it out where it is None, and return whether the file changed by it.

        Nothing else in the file changes, and where there is nothing to take out, no file is made.

        Args:
            persona: The persona's name, or None.
            check: Called before the lock and just before the rename; what it raises ends the change.

        Raises:
            CorruptError: The file, or its ``persona`` section, is no JSON object. It is left as it is.
            PersonaError: As for ``JsonFile.update``.
        """
        from persona_store.jsonfile import JsonFile  # noqa: PLC0415 - as above

        file = JsonFile(self.path, self.path.parent)
        if persona is None and not file.read().data:
            return False
        changed = False

        def choose(values: dict[str, JsonValue]) -> dict[str, JsonValue] | None:
            nonlocal changed
            section = values.setdefault("persona", {})
            if not isinstance(section, dict):
                raise CorruptError(
                    phrase(
                        "{path}: persona must be an object; it was left as it is, correct it by hand",
                        path=readable(self.path),
                    ),
                    reason="bad_settings",
                    path=str(self.path),
                    field="persona",
                )
            changed = section.get("lastPersona") != persona
            if persona is None:
                section.pop("lastPersona", None)
            else:
                section["lastPersona"] = persona
            return values if changed else None

        file.update(choose, check=check)
        return changed


def _is_missing(path: Path) -> bool:
    """Whether there is surely no file; one that cannot be looked at may hold a choice, and is not missing."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False


def _parse(path: Path, values: Mapping[str, Any]) -> Settings:
    faults: list[Fault] = []
    persona = _section(PersonaSection, values, "persona", path, faults)
    mind = _section(MindSection, values, "mind", path, faults)
    sessions = _section(SessionsSection, values, "sessions", path, faults)
    recall = _section(RecallSection, values, "recall", path, faults)
    models = _models(values.get("models"), path, faults)
    language = _language(values.get(_LANGUAGE), path, faults)
    faults += [Fault(path, what, fatal=False) for what in slips(values, _KNOWN)]
    return Settings(path, persona, mind, sessions, recall, models, language, tuple(faults), frozenset(_names(values)))


def _language(raw: object, path: Path, faults: list[Fault]) -> str | None:
    """Return the language that is set; one that there are no messages in is told of, and stays."""
    if raw is None:
        return None
    language = chosen({}, raw) if isinstance(raw, str) else ENGLISH
    if language == ENGLISH:
        if raw != ENGLISH:
            what = phrase('{field} must name a language, such as "it"', field=_LANGUAGE)
            faults.append(Fault(path, what, field=_LANGUAGE, fatal=False))
        return ENGLISH
    if language.partition("_")[0] != ENGLISH and speech.catalogue(language) is None:
        what = phrase(
            "{field}: there are no messages in {language}, so they come in English", field=_LANGUAGE, language=language
        )
        faults.append(Fault(path, what, fatal=False))
    return str(raw)


def _section(kind: type[S], values: Mapping[str, Any], name: str, path: Path, faults: list[Fault]) -> S:
    raw = values.get(name, {})
    careful = _CAREFUL[name]
    if not isinstance(raw, Mapping):
        faults.append(Fault(path, phrase("{field} must be an object", field=name), field=name))
        return kind.model_validate(dict(careful))
    try:
        return kind.model_validate(dict(raw))
    except ValidationError as error:
        bad = {str(key): message for key, message in _problems(error, name)}
        faults += [Fault(path, message, field=f"{name}.{key}") for key, message in bad.items()]
        kept = {key: value for key, value in raw.items() if key not in bad}
        return kind.model_validate({**kept, **{key: careful[key] for key in bad if key in careful}})


def _models(raw: object, path: Path, faults: list[Fault]) -> dict[Role, ModelSection]:
    if raw is None:
        return {}
    if not isinstance(raw, Mapping):
        faults.append(Fault(path, phrase("{field} must be an object", field="models"), field="models"))
        return {}
    found: dict[Role, ModelSection] = {}
    for role in ROLES:
        value = raw.get(role)
        if value is None:
            continue
        name = f"models.{role}"
        try:
            found[role] = ModelSection.model_validate({"model": value} if isinstance(value, str) else value)
        except ValidationError as error:
            faults += [Fault(path, text, field=f"{name}.{key}") for key, text in _problems(error, name)]
    unknown = len(set(raw) - set(ROLES))
    if unknown:
        message = phrase(
            "models: {unknown} of its roles are unknown and serve nothing; known are {known}",
            unknown=unknown,
            known=", ".join(ROLES),
        )
        faults.append(Fault(path, message, field="models", fatal=False))
    return found


def _problems(error: ValidationError, section: str) -> Iterable[tuple[str, str]]:
    """Yield each malformed key, and the sentence about it."""
    from persona_hooks.rules import broken_at  # noqa: PLC0415 - most files break none

    for problem in error.errors(include_input=False, include_url=False):
        key = str(problem["loc"][0]) if problem["loc"] else "model"
        yield key, broken_at(f"{section}.{key}", problem)


def _names(values: Mapping[str, Any], prefix: str = "") -> Iterable[str]:
    for key, value in values.items():
        name = f"{prefix}{key}"
        yield name
        if isinstance(value, Mapping):
            yield from _names(value, f"{name}.")
        elif prefix == "models." and isinstance(value, str):
            yield f"{name}.model"


def _closed(error: PersonaError, path: Path) -> CorruptError:
    return CorruptError(
        phrase("Memory is closed: the settings cannot be read. {why}", why=error.message),
        reason="bad_settings",
        path=str(path),
    )
