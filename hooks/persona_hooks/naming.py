"""The names of fields on the wire."""

from __future__ import annotations


def to_camel(name: str) -> str:
    """Return a field's name in camelCase: ``session_id`` as ``sessionId``.

    pydantic has a function of this name which knows more forms, by regular expressions that take as long to compile as
    a small model takes to build.
    """
    head, *rest = name.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in rest)
