"""Model roles: ``default``, ``routing`` and ``flash``, each a model in the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Generic, Literal, NamedTuple, TypeGuard, TypeVar

from persona_hooks.speech import phrase

if TYPE_CHECKING:
    from collections.abc import Mapping

Role = Literal["default", "routing", "flash"]
ROLES: Final[tuple[Role, ...]] = ("default", "routing", "flash")

M = TypeVar("M")


class Resolved(NamedTuple, Generic[M]):
    """The model that serves a role.

    Attributes:
        role: The role whose model it is.
        model: Its settings; None where no model is configured at all.
        known: Whether the role that was asked for exists. One that does not is served by the default, and named.
    """

    role: Role
    model: M | None
    known: bool = True


def is_role(name: str) -> TypeGuard[Role]:
    """Return whether ``name`` is a role."""
    return name in ROLES


def resolve(models: Mapping[Role, M], name: str) -> Resolved[M]:
    """Return the model for the role ``name``: its own, else the default's."""
    role: Role = name if is_role(name) and name in models else "default"
    return Resolved(role, models.get(role), known=is_role(name))


def unknown_role() -> str:
    """Return what validation says of a role that does not exist; it never repeats the name."""
    return phrase("the role is unknown and resolves to default; known are {roles}", roles=", ".join(ROLES))
