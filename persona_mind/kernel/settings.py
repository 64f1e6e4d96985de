"""The mind's settings, taken once a session from whoever keeps them, with the environment on top."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from persona_hooks.messages import Setting, SettingsQuery, SettingsReply
from persona_hooks.switches import is_no
from persona_mind.kernel.compared import VECTORS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from persona_hooks.bus import BusClient

CaptureMode = Literal["auto", "prompt", "off"]

ENABLED: Final = "mind.enabled"
CAPTURE: Final = "mind.capture"
NUDGE: Final = "mind.nudge"
SESSIONS: Final = "sessions.recall"
BRAKES: Final = "brief.brakes"

_OURS: Final = frozenset({ENABLED, CAPTURE, NUDGE, SESSIONS, VECTORS})
_VARIABLES: Final[Mapping[str, str]] = {
    CAPTURE: "PI_PERSONA_MIND_CAPTURE",
    NUDGE: "PI_PERSONA_MIND_NUDGE",
    VECTORS: "PI_PERSONA_MIND_VECTORS",
}


class MindSettings(NamedTuple):
    """What the person set, as it was when the session began.

    Attributes:
        enabled: Whether the mind works at all.
        capture: ``auto`` writes strong cues, ``prompt`` only hints, ``off`` looks at nothing.
        nudge: Whether hints are given.
        sessions: Whether past conversations are searched.
        vectors: The model by which meanings are compared: a path, or a name that fastembed knows; empty for none.
        answered: Whether the keeper of settings answered; until it does, they are asked for again.
        sources: Where each of them came from.
    """

    enabled: bool = True
    capture: CaptureMode = "auto"
    nudge: bool = True
    sessions: bool = True
    vectors: str = ""
    answered: bool = False
    sources: tuple[tuple[str, str], ...] = ()

    def effective(self) -> tuple[Setting, ...]:
        """Return them as others read them."""
        values = {
            ENABLED: self.enabled,
            CAPTURE: self.capture,
            NUDGE: self.nudge,
            SESSIONS: self.sessions,
            VECTORS: self.vectors or None,
        }
        known = dict(self.sources)
        return tuple(Setting(key=key, value=value, source=known.get(key, "default")) for key, value in values.items())


def has_brakes(bus: BusClient, session_id: str) -> bool:
    """Return whether the owner's brief is known to declare brakes, so that silence about them is no answer.

    The brief changes with the persona, so this is asked for and not kept with the settings.
    """
    return any(
        setting.key == BRAKES and setting.value is True
        for reply in bus.ask(SettingsQuery(session_id=session_id), SettingsReply)
        for setting in reply.settings
    )


def collect(bus: BusClient, session_id: str, environ: Mapping[str, str]) -> MindSettings:
    """Return the settings that hold for a session from now on."""
    asked = bus.ask(SettingsQuery(session_id=session_id), SettingsReply)
    replies = [reply for reply in asked if reply.provider != bus.name]
    found: dict[str, tuple[object, str]] = {
        setting.key: (setting.value, setting.source) for reply in replies for setting in reply.settings
    }
    for key, variable in _VARIABLES.items():
        if environ.get(variable, "").strip():
            found[key] = (environ[variable], variable)
    return MindSettings(
        enabled=_flag(found, ENABLED, default=True),
        capture=_mode(found),
        nudge=_flag(found, NUDGE, default=True),
        sessions=_flag(found, SESSIONS, default=True),
        vectors=_model(found),
        answered=bool(replies),
        sources=tuple((key, source) for key, (_, source) in sorted(found.items()) if key in _OURS),
    )


def _flag(found: Mapping[str, tuple[object, str]], key: str, *, default: bool) -> bool:
    value = found.get(key, (default, ""))[0]
    if value is None:
        return default
    return not is_no(value) if isinstance(value, str) else bool(value)


def _model(found: Mapping[str, tuple[object, str]]) -> str:
    value = found.get(VECTORS, ("", ""))[0]
    return value.strip() if isinstance(value, str) and not is_no(value) else ""


def _mode(found: Mapping[str, tuple[object, str]]) -> CaptureMode:
    """Return the mode; a word that is none of ours means ``auto``, and false means ``off``."""
    value = found.get(CAPTURE, ("auto", ""))[0]
    if value is False:
        return "off"
    word = value.strip().lower() if isinstance(value, str) else ""
    return "prompt" if word == "prompt" else "off" if word == "off" else "auto"
