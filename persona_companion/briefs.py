"""A brief: what a persona is, as its author wrote it. Values only; ``briefreader`` reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from persona_companion.faults import Fault
    from persona_companion.yamltext import YamlValue

MAX_PROMPT: Final = 20_000
"""The longest prompt, in characters: about 5,000 tokens of every request."""

BriefOrigin = Literal["user", "project"]


@dataclass(frozen=True, slots=True)
class Brief:
    """One persona.

    Attributes:
        name: Its canonical name.
        path: The file that declares it.
        line: Where its name stands there.
        origin: Where it was found: the person's own folder, or a trusted project's.
        description: One line for lists.
        prompt: What it is told about itself; empty where the brief has none.
        objective: What it is trying to achieve; withheld while a brake may hold.
        role: The model role it asks for, as written; None for the session's own model.
        model: The exact model it asks for; None for its role's.
        notebook: The notebook section as written; None where it keeps none.
        extra: Every other key, as written.
        warnings: What is wrong with the brief but does not stop it.
    """

    name: str
    path: Path
    line: int = 1
    origin: BriefOrigin = "user"
    description: str = ""
    prompt: str = field(default="", repr=False)
    objective: str = field(default="", repr=False)
    role: str | None = None
    model: str | None = None
    notebook: Mapping[str, YamlValue] | None = None
    extra: Mapping[str, YamlValue] = field(default_factory=lambda: MappingProxyType({}))
    warnings: tuple[Fault, ...] = ()

    @property
    def may_brake(self) -> bool:
        """Whether it keeps a notebook, which may hold brakes."""
        return bool(self.notebook and self.notebook.get("sets"))
