"""Enrolling plugins: each is built, checked against the hook specifications and put in its place, or left out in words.

pluggy finds the implementations and validates their arguments. What it would accept in silence but this project's
dispatch does not do (wrappers, ``firstresult``, an order of its own, arguments that are never passed) is refused here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import pluggy

from persona_hooks.errors import PersonaError
from persona_hooks.specs import PROJECT, HookSpecs

Factory = Callable[[], object]

_UNSUPPORTED = {
    "wrapper": "is a wrapper",
    "hookwrapper": "is a wrapper",
    "firstresult": "asks for firstresult",
    "tryfirst": "asks to run first (declare `requires` instead)",
    "trylast": "asks to run last (declare `requires` instead)",
    "specname": "has another name than its hook",
}


class RejectedError(Exception):
    """A plugin cannot be enrolled; the message says why, in one line."""


class Implementation(NamedTuple):
    """One plugin's method for one hook.

    Attributes:
        function: The bound method.
        arguments: The names of the hook's arguments that it takes.
    """

    function: Callable[..., object]
    arguments: tuple[str, ...]


class Enrolled(NamedTuple):
    """A plugin that passed every check.

    Attributes:
        name: Its entry point's name.
        implementations: By hook.
        requires: The plugins that must come before it.
    """

    name: str
    implementations: dict[str, Implementation]
    requires: tuple[str, ...] = ()


@dataclass(slots=True)
class Enrolment:
    """What came of enrolling: plugins in their order, and the ones that were left out with the reason."""

    enrolled: list[Enrolled] = field(default_factory=list)
    rejected: list[tuple[str, str]] = field(default_factory=list)


def enrol(factories: Iterable[tuple[str, Factory]]) -> Enrolment:
    """Build and check every plugin; a bad one is left out and never raises.

    Args:
        factories: Each plugin's name and what builds it.
    """
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(HookSpecs)
    found: dict[str, Enrolled] = {}
    result = Enrolment()
    for name, factory in factories:
        if name in found:
            result.rejected.append((name, "another plugin of this name is loaded"))
            continue
        try:
            found[name] = _checked(manager, name, _built(factory))
        except RejectedError as error:
            result.rejected.append((name, str(error)))
    _sort(found, result)
    return result


def describe(error: BaseException) -> str:
    """Return one bounded line about ``error`` for ``doctor``.

    Only this project's own errors are quoted: a foreign message may hold the text of a memory, so of those the type and
    the line of code are told.
    """
    if isinstance(error, PersonaError):
        return f"{type(error).__name__}: {error.message}"[:300]
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" at {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace is not None else ""
    return f"{type(error).__name__}{where}"[:300]


def _built(factory: Factory) -> object:
    try:
        plugin = factory()
    # A plugin that calls sys.exit while it is built must not end the host either.
    except (Exception, SystemExit) as error:
        raise RejectedError(f"it could not be built: {describe(error)}") from error
    if plugin is None or inspect.isclass(plugin):
        raise RejectedError("its factory gave no plugin instance")
    return plugin


def _checked(manager: pluggy.PluginManager, name: str, plugin: object) -> Enrolled:
    _check_markers(plugin)
    requires = _requires(plugin)
    try:
        manager.register(plugin, name)
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        _forget(manager, plugin)
        raise RejectedError(" ".join(str(error).split())[:300]) from error
    except ValueError as error:
        raise RejectedError("one instance is offered under two names") from error
    implementations: dict[str, Implementation] = {}
    for caller in manager.get_hookcallers(plugin) or ():
        for item in caller.get_hookimpls():
            if item.plugin is plugin:
                implementations[caller.name] = Implementation(item.function, tuple(item.argnames))
    return Enrolled(name, implementations, requires)


def _forget(manager: pluggy.PluginManager, plugin: object) -> None:
    """Take a plugin's implementations back, so that its misspelt hook is not held against the next plugin."""
    if manager.is_registered(plugin):
        manager.unregister(plugin)


def _check_markers(plugin: object) -> None:
    for attribute in dir(plugin):
        member = inspect.getattr_static(plugin, attribute, None)
        function = getattr(member, "__func__", member)
        options = getattr(function, f"{PROJECT}_impl", None)
        if not isinstance(options, dict):
            continue
        # firstresult belongs to a specification; a plugin can only ask for it by marking its method as one.
        asked = {**options, **(getattr(function, f"{PROJECT}_spec", None) or {})}
        for option, complaint in _UNSUPPORTED.items():
            if asked.get(option):
                raise RejectedError(f"hook {attribute!r} {complaint}, which this host does not do")
        if not hasattr(HookSpecs, attribute):
            raise RejectedError(f"there is no hook {attribute!r}; the hooks are listed in docs/hooks.md")
        _check_signature(attribute, function)


def _check_signature(hook: str, function: Callable[..., object]) -> None:
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise RejectedError(f"hook {hook!r} is a generator, which this host does not run")
    for parameter in inspect.signature(function).parameters.values():
        plain = parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        if not plain or parameter.default is not parameter.empty:
            raise RejectedError(
                f"hook {hook!r} takes {parameter.name!r} in a way that is never passed; arguments are plain names"
            )


def _requires(plugin: object) -> tuple[str, ...]:
    requires = getattr(plugin, "requires", ())
    if not isinstance(requires, (tuple, list)) or not all(isinstance(name, str) for name in requires):
        raise RejectedError("`requires` is not a tuple of plugin names")
    return tuple(requires)


def _sort(found: dict[str, Enrolled], result: Enrolment) -> None:
    """Order plugins by what they require, then by name; leave out those whose requirements cannot be met."""
    waiting = {name: set(plugin.requires) for name, plugin in found.items()}
    while missing := {name: sorted(needs - set(waiting)) for name, needs in waiting.items() if needs - set(waiting)}:
        for name, absent in sorted(missing.items()):
            del waiting[name]
            result.rejected.append((name, f"it requires {', '.join(absent)}, which is not loaded"))
    ready = [name for name, needs in waiting.items() if not needs]
    heapify(ready)
    while ready:
        done = heappop(ready)
        result.enrolled.append(found[done])
        del waiting[done]
        for name, needs in waiting.items():
            if done in needs:
                needs.remove(done)
                if not needs:
                    heappush(ready, name)
    for name, needs in sorted(waiting.items()):
        result.rejected.append((name, f"it requires {', '.join(sorted(needs))}, which is part of a circle"))
