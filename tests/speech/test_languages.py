"""Which language a person is spoken to, everywhere, and that programs are not."""

from __future__ import annotations

import json
import re
import threading
from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.journal import MemoryJournal
from persona_hooks.speech import phrase, say, worded
from persona_hooks.tools import parameters
from persona_host.embedded.host import EmbeddedHost
from persona_host.embedded.models import HostModels
from persona_host.embedded.plain import answer
from persona_host.place import Place
from persona_host.runtime import Runtime, Setup
from persona_mind.kernel.entries import WAKE
from tests.speech.bracketing import LANGUAGE, OPEN, speaking
from tests.speech.test_worded import conversation
from tests.support.cli import Persona
from tests.support.embedded import RecordingScreen
from tests.support.model_server import ModelServer, Reply, ToolCall
from tests.support.sweeping import opened, plausible, shipped

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from persona_hooks.verbs import Audience
    from tests.support.clock import ManualClock

EMPTY = {"en": "Nothing is remembered here yet.", "it": "Qui non c'è ancora nessun ricordo."}
VOLATILE = {"id", "ids", "at", "made", "session", "sessions", "entries", "leaf", "turn", "due", "expiresAt", "kept"}


@pytest.fixture
def runtimes(tmp_path: Path) -> Iterator[dict[str, Runtime]]:
    found = {}
    for language in EMPTY:
        (home := tmp_path / language / "home").mkdir(parents=True)
        found[language] = opened(home, {"LANG": language})
    yield found
    for runtime in found.values():
        runtime.close()


def settings(home: Path, **values: object) -> None:
    folder = home / ".pi" / "agent" / "persona"
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text(json.dumps(values))


def test_two_runtimes_in_one_process_speak_each_its_own_language(runtimes: dict[str, Runtime]) -> None:
    told = [(language, runtimes[language].command("/mind recall").card.title) for language in ("en", "it", "en", "it")]
    assert told == [(language, EMPTY[language]) for language, _ in told]


def test_threads_of_two_runtimes_do_not_mix_languages(runtimes: dict[str, Runtime]) -> None:
    wrong: list[tuple[str, str]] = []

    def ask(language: str) -> None:
        for _ in range(25):
            title = runtimes[language].command("/mind recall").card.title
            if title != EMPTY[language]:
                wrong.append((language, title))

    threads = [threading.Thread(target=ask, args=(language,)) for language in ("en", "it", "it", "en")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_runtime_inside_another_ones_answer_keeps_its_language(runtimes: dict[str, Runtime]) -> None:
    with runtimes["it"].speaking():
        assert runtimes["en"].command("/mind recall").card.title == EMPTY["en"]
        assert runtimes["it"].command("/mind recall").card.title == EMPTY["it"]


@pytest.mark.parametrize(
    ("environ", "setting", "language"),
    [({}, "it", "it"), ({"LANG": "it_IT.UTF-8"}, "en", "en"), ({"LC_ALL": "it_IT"}, None, "it"), ({}, None, "en")],
)
def test_the_setting_overrules_the_environment(
    home: Path, environ: dict[str, str], setting: str | None, language: str
) -> None:
    if setting is not None:
        settings(home, language=setting)
    runtime = opened(home, environ)
    try:
        assert runtime.command("/mind recall").card.title == EMPTY[language]
    finally:
        runtime.close()


@pytest.mark.parametrize("setting", [5, "", "../it", ["it"], "C"])
def test_a_language_that_cannot_be_one_is_named_and_english_is_spoken(home: Path, setting: object) -> None:
    settings(home, language=setting)
    runtime = opened(home, {"LANG": "it"})
    try:
        told = runtime.command("/persona doctor")
        assert 'language must name a language, such as "it"' in " ".join(told.text.split())
        assert runtime.command("/mind recall").card.title == EMPTY["en"]
    finally:
        runtime.close()


def test_what_is_noticed_at_the_start_is_said_in_the_language_of_the_settings(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings(home, language="it", mind={"capture": "loud"})
    opened(home).close()
    assert "mind.capture deve essere auto, prompt o off" in capsys.readouterr().err


def test_a_reminder_that_a_timer_shows_is_said_in_the_language_of_its_runtime(
    home: Path, tmp_path: Path, clock: ManualClock
) -> None:
    screen = RecordingScreen()
    environ = {"HOME": str(home), "LANG": "it"}
    setup = Setup("test", home / ".pi" / "agent", home, environ, plugins=shipped, patience=30.0)
    runtime = Runtime.start(setup, ui=screen, models=HostModels(environ), scheduler=clock)
    try:
        (project := tmp_path / "project").mkdir()
        runtime.open(MemoryJournal("s", project, now=clock.now), session_id="s", cwd=project)
        assert runtime.command("/mind backlog add Ruotare la chiave --due 60").ok
        clock.advance(61)
        assert [text for text in screen.notices if "Ruotare" in text] == ["Promemoria: Ruotare la chiave"]
        card = next(entry for entry in runtime.session.journal.entries() if entry.custom_type == WAKE)
        shown = runtime.render(card)
        assert shown is not None
        assert (shown.title, shown.body[0].partition("] ")[2]) == ("Promemoria", "(dall'utente) Ruotare la chiave")
    finally:
        runtime.close()


def test_nothing_of_a_conversation_is_said_in_english_to_who_reads_italian(tmp_path: Path) -> None:
    folders = {}
    for language in ("en", "it"):
        folders[language] = tmp_path / language
        (folders[language] / "home").mkdir(parents=True)
    heard = {language: conversation(folder / "home", folder, language) for language, folder in folders.items()}
    assert [line for line, _ in heard["en"]] == [line for line, _ in heard["it"]]
    english = {text for _, card in heard["en"] for text in card.split("\n") if len(text.split()) > 3}
    same = [text for _, card in heard["it"] for text in card.split("\n") if text in english]
    # Forms of commands are the same in every language, and so is what the person said.
    assert [text for text in same if not text.lstrip().startswith(("/mind", "/persona", "| "))] == []


def test_programs_are_told_the_same_in_every_language(runtimes: dict[str, Runtime]) -> None:
    lines = (
        "/mind remember Staging listens on 5433",
        "/mind recall staging",
        "/mind",
        "/mind doctor",
        "/mind backlog add Rotate --due 1h",
        "/mind backlog",
        "/mind why",
        "/mind read nothing",
        "/mind quarantine show nothing",
        "/mind off",
        "/mind recall",
        "/persona",
    )
    details: dict[str, list[Any]] = {}
    blocks: dict[str, list[list[str]]] = {}
    for language, runtime in runtimes.items():
        details[language] = [fixed(runtime.command(line).details, language) for line in lines[:-3]]
        blocks[language] = [block.text.split("\n")[1:-1] for block in runtime.blocks("staging")]
        details[language] += [fixed(runtime.command(line).details, language) for line in lines[-3:]]
    assert details["it"] == details["en"]
    assert blocks["it"] == blocks["en"]


@pytest.mark.parametrize("audience", ["model", "script", "mcp"])
def test_what_models_and_programs_ask_for_is_answered_in_english(home: Path, audience: Audience) -> None:
    runtime = speaking(home)
    try:
        for verb in runtime.registry.shown_to(audience):
            required = parameters(verb.params).get("required", ())
            tried = [plausible(verb), {"nonsense": 1}, *({**plausible(verb), name: 5} for name in required)]
            told = [
                runtime.call(verb.name, given, session=runtime.session, origin="model", audience=audience)
                for given in tried
            ]
            assert [answer.text for answer in told if OPEN in answer.text] == []
            with runtime.speaking():
                assert [answer.text for answer in told if OPEN not in answer.anew().text()] == []
        for tool, given in (("memory", {"action": "nonsense"}), ("nonsense", {"action": "recall"}), ("memory", {})):
            refused = runtime.tool(tool, given, audience=audience)
            assert not refused.ok
            assert OPEN not in refused.text
    finally:
        runtime.close()


def test_a_model_reads_english_while_the_person_who_looks_on_reads_their_own(home: Path, tmp_path: Path) -> None:
    (cwd := tmp_path / "project").mkdir()
    calls = (
        ToolCall("memory", {"action": "recall", "query": "staging"}),
        ToolCall("memory", {"action": "read", "id": "nothing"}),
        ToolCall("memory", {"action": "nonsense"}),
        ToolCall("memory", ["no", "object"]),  # type: ignore[arg-type]
    )
    screen = RecordingScreen()
    with ModelServer([Reply(calls=calls), "Done."]) as server:
        settings(home, models={"default": {"model": "openai:scripted", "baseUrl": server.url}})
        place = Place(home / ".pi" / "agent", cwd, home, {"HOME": str(home), "LANG": LANGUAGE, "OPENAI_API_KEY": "x"})
        host = EmbeddedHost.start(place, screen=screen, ui=screen, plugins=shipped, patience=30.0)
        try:
            answer(host, "what about staging?")
        finally:
            host.close()
    told, shown = server.requests[1].of("tool"), [event.card.text() for event in screen.of("tool")]
    assert (len(told), len(shown)) == (4, 4)
    assert [text for text in told if OPEN in text] == []
    assert [text for text in shown if OPEN not in text] == []


def test_a_recall_over_past_conversations_is_worded_for_whoever_reads_it(home: Path) -> None:
    runtime = speaking(home)
    try:
        told = runtime.tool("memory", {"action": "recall", "query": "staging", "scope": ["long", "sessions"]})
        assert OPEN not in told.text
        with runtime.speaking():
            assert told.anew().text().count(OPEN) > 1
    finally:
        runtime.close()


def test_a_message_of_no_words_stays_empty_in_every_language(runtimes: dict[str, Runtime]) -> None:
    for runtime in runtimes.values():
        with runtime.speaking():
            assert (say(""), worded(phrase("")), say("{what}", what=phrase(""))) == ("", "", "")


JSON = (
    ("mind", "recall"),
    ("mind", "remember", "Staging listens on 5433"),
    ("mind", "read", "nothing"),
    ("mind", "nonsense"),
    ("tool", "memory", '{"action": "recall", "query": "staging"}'),
    ("tool", "memory", "[]"),
    ("inject", "staging"),
    ("why",),
    ("doctor",),
    ("doctor", "--host", "pi"),
    ("export", "memory.zip"),
    ("import", "memory.zip"),
    ("backup", "copy"),
    ("restore", "copy"),
    ("install", "mcp"),
    ("uninstall", "mcp"),
    ("chat", "--once", "hello", "--once", "/mind", "--once", "/nonsense"),
)


def test_what_is_printed_as_json_is_english(environ: dict[str, str], tmp_path: Path) -> None:
    said = {}
    for language in ("C", "it_IT.UTF-8"):
        folder = tmp_path / language[:2].strip(".")
        (folder / "home").mkdir(parents=True)
        (folder / "work").mkdir()
        agent_dir = folder / "home" / ".pi" / "agent"
        own = {"HOME": str(folder / "home"), "PI_AGENT_DIR": str(agent_dir), "LANG": language}
        persona = Persona({**environ, **own}, folder / "work")
        said[language] = [
            [plain(outcome.get("text", ""), folder) for outcome in persona(*words, "--json").outcomes()]
            for words in JSON
        ]
    assert said["it_IT.UTF-8"] == said["C"]


def plain(text: str, folder: Path) -> str:
    """Return a text without what differs from one run to the next."""
    return re.sub(r"[0-9a-f]{8,}|[0-9]+", "N", text.replace(str(folder), "FOLDER"))


def fixed(value: object, language: str) -> object:
    """Return details as JSON, without what differs from one run to the next."""
    if isinstance(value, str):
        return value.replace(f"/{language}/", "/LANGUAGE/")
    if isinstance(value, list | tuple):
        return [fixed(item, language) for item in value]
    if hasattr(value, "items"):
        return {name: fixed(item, language) for name, item in value.items() if name not in {*VOLATILE, "slug", "path"}}
    return value


def test_a_shell_is_answered_in_the_language_of_its_environment(environ: dict[str, str], tmp_path: Path) -> None:
    persona = Persona(environ, tmp_path)
    assert persona("mind", "recall", LANG="it_IT.UTF-8").out.strip() == EMPTY["it"]
    assert persona("mind", "recall", LANG="C").out.strip() == EMPTY["en"]
    refused = persona("mind", "read", "nothing", LC_ALL="it_IT.UTF-8")
    assert (refused.code, refused.err.strip()[:12]) == (1, "! Qui non si")
    told = persona("mind", "read", "nothing", "--json", LANG="it_IT.UTF-8").json()
    assert told["text"].startswith("No such fact is visible here")
    assert told["details"]["reason"] == "not_found"
    assert "Find what is remembered" in persona("mind", "recall", "--help", LANG="it_IT.UTF-8").out
