"""The contract between agent hosts and plugins: verbs, hooks, messages, bus, journal, ports, cards and errors.

A plugin author needs ``hookimpl`` and the modules named here; start with ``specs`` and ``verbs``. Nothing in this
package imports a plugin, a store or a host.
"""

from __future__ import annotations

from persona_hooks.specs import hookimpl

__all__ = ["hookimpl"]
