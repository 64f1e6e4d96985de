"""The contract between agent hosts and plugins: verbs, hooks, messages, bus, journal, ports, cards and errors.

A plugin author needs ``hookimpl`` and the modules named here; start with ``specs`` and ``verbs``. Nothing in this
package imports a plugin, a store or a host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from persona_hooks.specs import hookimpl

__all__ = ["hookimpl"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module's attribute
    # Whoever needs one module of this package should not pay for pluggy.
    if name == "hookimpl":
        from persona_hooks.specs import hookimpl  # noqa: PLC0415 - see above

        return hookimpl
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
