"""Loading plugins: what is accepted, what is left out, and in which words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks import hookimpl
from persona_hooks.dispatch import Dispatcher
from persona_hooks.enrolment import describe
from persona_hooks.errors import ConflictError
from persona_hooks.specs import PROJECT, hookspec

if TYPE_CHECKING:
    from collections.abc import Callable


class Good:
    @hookimpl
    def agent_start(self) -> None: ...


class MisspeltHook:
    @hookimpl
    def agent_strat(self) -> None: ...


class MisspeltArgument:
    @hookimpl
    def agent_start(self, sesion: object) -> None: ...


class MisspeltArgumentWithDefault:
    @hookimpl
    def agent_start(self, sesion: object = None) -> None: ...


class KeywordOnly:
    @hookimpl
    def agent_start(self, *, session: object) -> None: ...


class Everything:
    @hookimpl
    def agent_start(self, **arguments: object) -> None: ...


class Wrapper:
    @hookimpl(wrapper=True)
    def agent_start(self) -> Any:  # noqa: ANN401
        return (yield)


class OldWrapper:
    @hookimpl(hookwrapper=True)
    def agent_start(self) -> Any:  # noqa: ANN401
        yield


class FirstResult:
    @hookimpl
    @hookspec(firstresult=True)
    def agent_start(self) -> None: ...


class First:
    @hookimpl(tryfirst=True)
    def agent_start(self) -> None: ...


class Renamed:
    @hookimpl(specname="agent_start")
    def agent_end(self) -> None: ...


class Optional:
    @hookimpl(optionalhook=True)
    def agent_future(self) -> None: ...


class Generator:
    @hookimpl
    def agent_start(self) -> Any:  # noqa: ANN401
        yield


class BadRequires:
    requires = "persona_companion"


def raising() -> object:
    raise ValueError("the text of a memory")


def quitting() -> object:
    raise SystemExit(1)


def refusing() -> object:
    raise ConflictError("Another release is loaded.")


def load(*factories: tuple[str, Callable[[], object]]) -> Dispatcher:
    dispatcher = Dispatcher()
    dispatcher.load(factories)
    return dispatcher


@pytest.mark.parametrize(
    ("factory", "words"),
    [
        (MisspeltHook, ["'agent_strat'"]),
        (MisspeltArgument, ["'agent_start'", "sesion"]),
        (MisspeltArgumentWithDefault, ["'agent_start'", "'sesion'"]),
        (KeywordOnly, ["'agent_start'", "'session'"]),
        (Everything, ["'agent_start'", "'arguments'"]),
        (Wrapper, ["'agent_start'", "wrapper"]),
        (OldWrapper, ["'agent_start'", "wrapper"]),
        (FirstResult, ["'agent_start'", "firstresult"]),
        (First, ["'agent_start'", "requires"]),
        (Renamed, ["'agent_end'", "another name"]),
        (Optional, ["'agent_future'"]),
        (Generator, ["'agent_start'", "generator"]),
        (BadRequires, ["`requires`"]),
        (lambda: None, ["no plugin instance"]),
        (lambda: Good, ["no plugin instance"]),
        (quitting, ["SystemExit"]),
        (refusing, ["Another release is loaded."]),
    ],
)
def test_a_bad_plugin_is_left_out_in_words_and_the_good_one_works(
    factory: Callable[[], object], words: list[str]
) -> None:
    dispatcher = load(("bad", factory), ("good", Good))
    good, bad = dispatcher.states()
    assert (good.name, good.state, good.hooks) == ("good", "loaded", ("agent_start",))
    assert (bad.name, bad.state, bad.hooks) == ("bad", "failed", ())
    for word in words:
        assert word in bad.detail
    assert "\n" not in bad.detail
    assert dispatcher.call("agent_start", session=None).missed == ()
    dispatcher.close()


def test_a_foreign_exception_is_told_by_type_and_place_only() -> None:
    detail = load(("bad", raising)).states()[0].detail
    assert "ValueError at " in detail
    assert "test_enrolment.py" in detail
    assert "memory" not in detail


def test_the_description_of_an_error_is_bounded() -> None:
    assert len(describe(ConflictError("x" * 10_000))) <= 300


def test_one_name_is_one_plugin_and_the_first_stays() -> None:
    released: list[str] = []
    dispatcher = Dispatcher(released=released.append)
    dispatcher.load([("a", Good), ("a", Good)])
    assert [(state.name, state.state) for state in dispatcher.states()] == [("a", "loaded"), ("a", "failed")]
    assert released == []


def test_one_instance_under_two_names_is_refused() -> None:
    plugin = Good()
    states = load(("a", lambda: plugin), ("b", lambda: plugin)).states()
    assert [(state.name, state.state) for state in states] == [("a", "loaded"), ("b", "failed")]


def test_the_host_is_told_whom_it_has_to_release() -> None:
    released: list[str] = []
    Dispatcher(released=released.append).load([("bad", MisspeltHook), ("good", Good)])
    assert released == ["bad"]


def requiring(*names: str) -> Callable[[], object]:
    class Requiring:
        requires = names

    return Requiring


def test_a_missing_requirement_takes_out_what_rests_on_it() -> None:
    dispatcher = load(("a", requiring("b")), ("b", requiring("absent")), ("c", requiring()), ("d", MisspeltHook))
    details = {state.name: state.detail for state in dispatcher.states() if state.state == "failed"}
    assert set(details) == {"a", "b", "d"}
    assert "requires absent, which is not loaded" in details["b"]
    assert "requires b, which is not loaded" in details["a"]


def test_a_requirement_that_failed_counts_as_missing() -> None:
    dispatcher = load(("a", requiring("bad")), ("bad", MisspeltHook))
    assert {state.name for state in dispatcher.states() if state.state == "failed"} == {"a", "bad"}


def test_a_circle_of_requirements_takes_out_all_of_it_and_nobody_else() -> None:
    dispatcher = load(("a", requiring("b")), ("b", requiring("a")), ("c", requiring("c")), ("d", Good))
    states = {state.name: state.state for state in dispatcher.states()}
    assert states == {"d": "loaded", "a": "failed", "b": "failed", "c": "failed"}


def test_a_property_that_raises_does_not_matter() -> None:
    class Shy(Good):
        @property
        def value(self) -> object:
            raise RuntimeError

    assert load(("a", Shy)).states()[0].state == "loaded"


def test_inherited_and_static_implementations_count() -> None:
    class Child(Good):
        @staticmethod
        @hookimpl
        def agent_end() -> None: ...

    assert load(("a", Child)).states()[0].hooks == ("agent_end", "agent_start")


def test_the_project_name_is_the_entry_point_group() -> None:
    assert PROJECT == "persona_host"
