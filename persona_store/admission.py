"""Where text enters a memory and where it comes out: the only maker of ``Admitted`` and ``Shown``.

    admit(text, origin)   -> Admitted | Refused | Quarantined
    approve(text, origin) -> Admitted | Refused                  a person looked at what was quarantined
    show(text, origin)    -> Shown | Withheld

Refused are hidden Unicode outside its legitimate contexts, control characters, credentials, forged
structure and URLs that carry data away. Text that reads like a directive is judged by its origin: from the
user it is a preference, from the foreground model it is admitted and flagged, from a peer, a worker, a tool
or an import it is quarantined until a person approves it. The scanner is hygiene; origin, scope and audience
are the boundary.

No value of this module shows a text in its ``repr``, its ``str`` or an error.
"""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from typing import Final, Literal, NoReturn, TypeAlias, final, get_args

from persona_hooks.errors import RefusedError
from persona_hooks.speech import phrase, thousands
from persona_store import second_opinion
from persona_store.examination import MAX_CHARACTERS, RULES_VERSION, Finding, digest, examine
from persona_store.hidden import visible

__all__ = [
    "FOREIGN",
    "MAX_CHARACTERS",
    "ORIGINS",
    "Admitted",
    "Approval",
    "Flag",
    "Origin",
    "Quarantined",
    "Refused",
    "Shown",
    "Withheld",
    "admit",
    "approve",
    "show",
]

Origin: TypeAlias = Literal["user", "model", "import", "peer", "worker", "tool"]
"""Who brought a text: it stands on every row and in every card."""

Flag: TypeAlias = Literal["preference", "directive", "approved"]
"""``preference``: a directive by the user; ``directive``: by the model; ``approved``: a person consented."""

ORIGINS: Final[frozenset[str]] = frozenset(get_args(Origin))
FOREIGN: Final[frozenset[str]] = frozenset({"import", "peer", "worker", "tool"})
"""Origins whose directives wait for a person."""

_SEAL: Final = object()


class _Sealed:
    """A value that only this module makes: no constructor, ``replace``, pickle or subclass makes another."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        if cls.__module__ != __name__:
            raise TypeError(f"{cls.__name__}: sealed values have no subclasses")

    def __post_init__(self, seal: object) -> None:
        if seal is not _SEAL:
            raise TypeError(f"{type(self).__name__} is made by persona_store.admission and nowhere else")

    def __copy__(self) -> _Sealed:
        return self

    def __deepcopy__(self, memo: object) -> _Sealed:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(f"{type(self).__name__} does not cross processes: admit the text again")


@dataclass(frozen=True, slots=True)
class Approval:
    """A person's consent to one text under one origin; it excuses the rules it names and no others."""

    digest: str
    """SHA-256 of the approved text, so that consent cannot be moved to another one."""
    rules: tuple[str, ...]
    """The directive rules that the person saw named."""
    rules_version: int = RULES_VERSION

    def covers(self, text: str, rule: str) -> bool:
        """Return whether this consent was given to exactly this text breaking this rule."""
        return rule in self.rules and digest(text) == self.digest


@final
@dataclass(frozen=True, slots=True)
class Admitted(_Sealed):
    """Text that may be stored. Made by ``admit`` and ``approve`` only."""

    text: str = field(repr=False)
    """Exactly what was given: nothing is stripped or normalised."""
    origin: Origin
    flags: frozenset[Flag]
    approval: Approval | None
    """To be kept beside the text, where there is one; ``show`` asks for it."""
    seal: InitVar[object]


@final
@dataclass(frozen=True, slots=True)
class Refused:
    """Text that may not be stored by anybody: which rule, where, and what would help."""

    rule: str
    """Family and name, such as ``secret.github-token`` or ``hidden.zero-width``."""
    offset: int
    """Position in characters from the start of the text."""
    advice: str
    """One sentence for the person who wants it stored."""
    conceals: str = ""
    """For hidden characters that spell an order or a secret: the rule which that breaks."""

    def error(self, field: str = "text") -> RefusedError:
        """Return the error to raise for an argument of this name."""
        return RefusedError(
            phrase(
                "{field}: refused, since {what} at character {offset} ({rule}). {advice}",
                field=field,
                what=_WHAT[self.rule.partition(".")[0]],
                rule=self.rule,
                offset=self.offset,
                advice=self.advice,
            ),
            reason="unsafe_text",
            field=field,
            rule=self.rule,
            offset=self.offset,
            advice=self.advice,
        )


@final
@dataclass(frozen=True, slots=True)
class Quarantined:
    """Text that waits for a person: what a quarantine must keep to list, show, approve or drop it."""

    text: str = field(repr=False)
    """What is held: stored nowhere but in quarantine, and shown through ``persona_store.hidden.visible``."""
    origin: Origin
    rule: str
    offset: int
    rules_version: int = RULES_VERSION

    @property
    def digest(self) -> str:
        """SHA-256 of the text: one text is held once, whoever brings it again."""
        return digest(self.text)

    def error(self, field: str = "text") -> RefusedError:
        """Return the error for callers that hold nothing for review."""
        return RefusedError(
            phrase(
                "{field}: {rule} at character {offset}, brought by {origin}: a person must approve it.",
                field=field,
                rule=self.rule,
                offset=self.offset,
                origin=self.origin,
            ),
            reason="quarantined",
            field=field,
            rule=self.rule,
            offset=self.offset,
            origin=self.origin,
        )


@final
@dataclass(frozen=True, slots=True)
class Shown(_Sealed):
    """Text on its way out, safe to print; made by ``show`` only. For a prompt, ``structure.inline`` it."""

    text: str = field(repr=False)
    """With hidden and control characters spelt out; otherwise as stored."""
    origin: Origin
    flags: frozenset[Flag]
    seal: InitVar[object]


@final
@dataclass(frozen=True, slots=True)
class Withheld:
    """A stored text that is not shown, and the rule that it breaks now."""

    rule: str


def admit(text: str, origin: Origin) -> Admitted | Refused | Quarantined:
    """Judge a text before it is stored.

    Args:
        text: What is to be kept, at most ``MAX_CHARACTERS`` long; an empty text is admitted.
        origin: Who brought it. A wrong origin is a mistake in the caller and raises ``ValueError``.
    """
    _check(origin)
    refusal, directive = examine(text)
    if refusal is not None:
        return _refused(refusal)
    if directive is None and origin in FOREIGN and second_opinion.objects_to(text):
        directive = Finding(second_opinion.RULE, 0)
    if directive is None:
        return Admitted(text, origin, frozenset(), None, _SEAL)
    if origin in FOREIGN:
        return Quarantined(text, origin, directive.rule, directive.offset)
    return Admitted(text, origin, _own_flags(origin), None, _SEAL)


def approve(text: str, origin: Origin) -> Admitted | Refused:
    """Admit a quarantined text because a person said so; what must be refused is refused all the same.

    The origin stays what it was. The approval covers the directive rule that the text breaks now, or the second
    opinion where that alone objects.
    """
    _check(origin)
    refusal, directive = examine(text)
    if refusal is not None:
        return _refused(refusal)
    rules = (directive.rule,) if directive is not None else ()
    if directive is None and origin in FOREIGN and second_opinion.objects_to(text):
        rules = (second_opinion.RULE,)
    return Admitted(text, origin, frozenset({"approved"}), Approval(digest(text), rules), _SEAL)


def show(text: str, origin: Origin, *, approval: Approval | None = None) -> Shown | Withheld:
    """Judge a stored text again before it is shown: rules grow, and files are edited by others.

    Args:
        text: The stored text.
        origin: The origin on its row.
        approval: The approval on its row, if a person gave one.
    """
    _check(origin)
    refusal, directive = examine(text)
    if refusal is not None:
        return Withheld(refusal.rule)
    if directive is None:
        held = approval is not None and approval.covers(text, second_opinion.RULE)
        return Shown(visible(text), origin, frozenset({"approved"}) if held else frozenset(), _SEAL)
    if origin not in FOREIGN:
        return Shown(visible(text), origin, _own_flags(origin), _SEAL)
    if approval is not None and approval.covers(text, directive.rule):
        return Shown(visible(text), origin, frozenset({"approved"}), _SEAL)
    return Withheld(directive.rule)


def _check(origin: str) -> None:
    if origin not in ORIGINS:
        raise ValueError(f"origin must be one of {', '.join(sorted(ORIGINS))}")


def _own_flags(origin: Origin) -> frozenset[Flag]:
    return frozenset({"preference"}) if origin == "user" else frozenset({"directive"})


_WHAT: Final = {
    "size": phrase("it is too long"),
    "hidden": phrase("there is an invisible character"),
    "control": phrase("there is a control character"),
    "secret": phrase("there is what looks like a secret"),
    "structure": phrase("there is what looks like a host's own markup"),
    "exfiltration": phrase("there is what could send something elsewhere"),
}
"""What each family of rules found, in the words of whoever it is told to."""
_ADVICE: Final = {
    "size": phrase("Keep it under {limit} characters, or store it in parts.", limit=thousands(MAX_CHARACTERS)),
    "hidden": phrase("Remove the invisible character, or type the passage again."),
    "control": phrase("Remove the control character; only tab and line break may stand in a text."),
    "secret": phrase("Store where the secret is kept, never the secret itself, and revoke it if it was shared."),
    "structure": phrase("Write it in words, without the brackets of a host's own markup."),
    "exfiltration": phrase("Store the address without the placeholder or the embedded image."),
}


def _refused(finding: Finding) -> Refused:
    advice = _ADVICE[finding.rule.partition(".")[0]]
    if finding.code_point:
        advice = phrase("{advice} It is {code_point}.", advice=advice, code_point=finding.code_point)
    if finding.conceals:
        advice = phrase("{advice} It hides text that breaks {rule}.", advice=advice, rule=finding.conceals)
    return Refused(finding.rule, finding.offset, advice, finding.conceals)
