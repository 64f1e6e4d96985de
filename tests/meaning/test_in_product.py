"""Comparing meanings where people meet it: recall, injection, doctor, erasing, backups."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.errors import PersonaError
from persona_hooks.journal import JsonlJournal
from persona_mind.meaning import service
from persona_mind.meaning.segments import said_of
from persona_mind.recall.pool import Patience, key_of
from tests.meaning.conftest import busy
from tests.recall import tiny_model
from tests.support.cli import Persona

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from persona_mind.library import Mind
    from persona_mind.meaning.service import Meaning
    from tests.meaning.conftest import Cached, Open
    from tests.support.clock import ManualClock

TRIP = "we booked a flight to lisbon"
CUE = "my luggage is old"
"""Shares no word with the trip."""
OTHERS = ("the recipe wants bread", "pytest runs the parser", "dinner and coffee", "nothing of note was said")
SECONDS = 60.0


def comparing(mind: Mind) -> Meaning:
    found = mind._plugin.services.meaning()
    assert found is not None
    return found


def read(mind: Mind) -> None:
    """Let the quiet moment pass in which everything is read."""
    assert comparing(mind).finish(SECONDS)
    mind.settle()
    assert comparing(mind).finish(SECONDS)


def remember(mind: Mind, *texts: str, **options: Any) -> list[str]:  # noqa: ANN401 - JSON
    return [mind.remember(text, **options).id for text in texts]


@pytest.mark.parametrize("scope", ["persona", "shared", "project", "stm"])
def test_a_cue_finds_a_fact_of_every_scope_that_shares_no_word_with_it(opened: Open, scope: str) -> None:
    mind = opened()
    (wanted,) = remember(mind, TRIP, scope=scope)
    remember(mind, *OTHERS, scope=scope)
    found = mind.recall(CUE, scope=scope)
    assert found.ids[0] == wanted
    assert found.meaning is not None
    assert (found.meaning.state, found.meaning.vectors, found.meaning.rows) == ("used", 5, 5)
    assert opened(None).recall(CUE, scope=scope).ids == ()


def test_the_score_of_every_hit_is_the_sum_of_its_terms(opened: Open, clock: ManualClock) -> None:
    mind = opened()
    remember(mind, TRIP, *OTHERS, tags=["travels"])
    read(mind)
    services = mind._plugin.services
    scope = services.access.scope(mind._session, services.access.owner(mind._session))
    seen = set[str]()
    for query in (CUE, "where does the flight go?", "bread", "a parser for coffee"):
        found = services.views.search(scope, ("persona",), query, 5, clock.now())
        assert found.facts
        for _, hit in found.facts:
            assert hit.score == sum(term.weight * term.value for term in hit.terms)
            seen |= {term.name.partition(":")[0] for term in hit.terms}
    assert {"word", "meaning", "seat"} <= seen


def test_a_request_is_given_what_its_prompt_means(opened: Open, clock: ManualClock) -> None:
    mind = opened()
    remember(mind, TRIP)
    clock.advance(60)
    remember(mind, *(f"{other}, number {at}" for at in range(8) for other in OTHERS))
    read(mind)
    assert TRIP in mind.inject(CUE)
    assert TRIP not in opened(None).inject(CUE)


def test_a_request_does_not_wait_for_a_model_that_is_not_loaded(opened: Open) -> None:
    mind = opened()
    remember(mind, TRIP)
    assert TRIP in mind.inject(CUE)
    assert comparing(mind).state == "starting"
    assert not comparing(mind)._worker._thread


def test_past_conversations_are_found_by_meaning(
    opened: Open, agent_dir: Path, project: Path, clock: ManualClock
) -> None:
    log = JsonlJournal(
        agent_dir / "persona-host" / "sessions" / "rocket" / "monday.jsonl", "monday", project, now=clock.now
    )
    for said in (TRIP, *OTHERS):
        log.message("user", said)
    mind = opened()
    read(mind)
    told = mind.recall(CUE, scope="sessions").sessions
    assert told is not None
    assert (told.turns[0].session, told.turns[0].turn) == ("monday", log.branch()[0].id)
    assert told.meaning is not None
    assert (told.meaning.state, told.meaning.vectors, told.meaning.rows) == ("used", 5, 5)
    assert comparing(mind).examine(0).held == (0, 5)


def test_what_is_not_read_yet_is_found_by_words_and_said(opened: Open) -> None:
    mind = opened()
    remember(mind, *(f"bread, number {at}" for at in range(40)))
    assert comparing(mind).finish(SECONDS)
    with busy(comparing(mind)):
        answer = mind.call("memory.recall", {"query": "bread number 7"})
    assert answer.outcome is not None
    assert answer.details["meaning"] == {"state": "unread", "vectors": 0, "rows": 40}
    assert "found by words alone" in answer.text
    assert answer.details["count"] == 8


def test_a_model_that_answers_late_is_not_waited_for_and_shows_in_doctor(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    mind = opened()
    remember(mind, TRIP, *OTHERS)
    read(mind)
    with busy(comparing(mind)), monkeypatch.context() as patch:
        patch.setitem(service.SECONDS, Patience.ASKED, 0.2)
        assert mind.recall("bread").count >= 1
        assert state(mind) == "late"
        report = mind.doctor().meaning
        assert report is not None
        assert report.late == 2
    assert comparing(mind).finish(SECONDS)
    assert state(mind) == "used"


def state(mind: Mind) -> str:
    told = mind.recall(CUE).meaning
    assert told is not None
    return told.state


def test_doctor_tells_model_width_and_what_was_read(opened: Open, model: Path) -> None:
    mind = opened()
    remember(mind, TRIP, *OTHERS)
    read(mind)
    found = mind.doctor().meaning
    assert found is not None
    assert (found.model, found.state, found.width, found.facts, found.turns) == (str(model), "ready", 4, 5, 0)
    shown = mind.call("mind.doctor", audience="person").text
    assert f"comparing meanings: {model}, 4 numbers a vector; read 5 facts and 0 turns" in shown
    assert "comparing meanings: off; `recall.vectors`" in opened(None).call("mind.doctor", audience="person").text


def broken(model: Path) -> Path:
    (model / "model.onnx").write_bytes(b"no model")
    return model


def flat(model: Path) -> Path:
    """Make it a model whose answer is no vector for each text."""
    (model / "model.onnx").write_bytes(tiny_model.shapeless())
    return model


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (lambda model: model / "nowhere", "There is no embedding model at"),
        (broken, "is not an ONNX model"),
        (flat, "The model"),
        (lambda _: "no/such-model", "fastembed"),
    ],
)
def test_a_model_that_does_not_work_is_named_with_its_setting_and_recall_goes_on(
    opened: Open, model: Path, spoil: Callable[[Path], Path | str], complaint: str
) -> None:
    mind = opened(spoil(model))
    remember(mind, TRIP)
    found = mind.recall("flight")
    assert found.count == 1
    assert found.meaning is not None
    assert (found.meaning.state, found.meaning.vectors) == ("failed", 0)
    report = mind.doctor()
    assert report.meaning is not None
    assert report.meaning.trouble.startswith("`recall.vectors`: ")
    assert complaint in report.meaning.trouble
    assert report.meaning.trouble in report.warnings
    assert "`recall.vectors` does not work" in mind.call("memory.recall", {"query": "flight"}).text
    assert [note for note in mind.notices if "Recall goes on by words alone" in note]


def test_without_the_extra_recall_goes_on_and_doctor_says_what_to_install(
    environ: dict[str, str], agent_dir: Path, model: Path
) -> None:
    code = (
        "import os, sys; sys.modules['onnxruntime'] = None\n"
        "import persona_mind\n"
        f"with persona_mind.open({str(agent_dir)!r}, environ=os.environ) as mind:\n"
        "    mind.remember('we booked a flight')\n"
        "    assert mind.recall('flight').count == 1\n"
        "    assert 'persona-mind[embeddings]' in mind.doctor().meaning.trouble\n"
    )
    subprocess.run([sys.executable, "-c", code], env=environ | {"PI_PERSONA_MIND_VECTORS": str(model)}, check=True)


def test_without_the_setting_nothing_of_the_extra_is_loaded(environ: dict[str, str], agent_dir: Path) -> None:
    code = (
        "import os, sys, persona_mind\n"
        f"with persona_mind.open({str(agent_dir)!r}, environ=os.environ) as mind:\n"
        "    mind.remember('we booked a flight')\n"
        "    mind.recall('flight'); mind.recall('flight', scope='sessions'); mind.inject('flight'); mind.settle()\n"
        "assert not {'numpy', 'onnxruntime', 'tokenizers', 'persona_mind.meaning.service'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], env=environ, check=True)


def test_a_process_that_ends_while_its_model_works_ends_well(
    environ: dict[str, str], agent_dir: Path, model: Path
) -> None:
    code = (
        "import os, persona_mind\n"
        f"mind = persona_mind.open({str(agent_dir)!r}, environ=os.environ)\n"
        "for at in range(40):\n    mind.remember(f'bread {at}')\n"
        "mind.recall('coffee')\n"
    )
    environ = environ | {"PI_PERSONA_MIND_VECTORS": str(model)}
    done = subprocess.run([sys.executable, "-c", code], env=environ, check=True, capture_output=True, text=True)
    assert done.stderr == ""


def test_an_erased_text_leaves_no_vector_in_cache_memory_or_index(
    opened: Open, cached: Cached, agent_dir: Path
) -> None:
    mind = opened()
    wanted, *_ = remember(mind, TRIP, *OTHERS)
    read(mind)
    assert mind.recall(CUE).ids[0] == wanted
    assert said_of(TRIP) in {record.said for record in cached()}
    vector = next(record.vector for record in cached() if record.said == said_of(TRIP))
    done = mind.erase(wanted)
    assert [path for path in done.files if path.startswith("vectors/")]
    assert {record.said for record in cached()} == set(map(said_of, OTHERS))
    for path in (path for path in (agent_dir / "persona-mind").rglob("*") if path.is_file()):
        data = path.read_bytes()
        assert key_of(TRIP) not in data
        assert said_of(TRIP) not in data
        assert vector not in data
    assert comparing(mind)._pools["facts"].get(key_of(TRIP)) is None
    assert wanted not in mind.recall(CUE).ids
    read(mind)
    assert {record.said for record in cached()} == set(map(said_of, OTHERS))


def test_an_erasure_that_stopped_at_the_vectors_is_finished_at_the_next_quiet_moment(
    opened: Open, cached: Cached, monkeypatch: pytest.MonkeyPatch
) -> None:
    mind = opened(None)
    reader = opened()
    wanted, *_ = remember(reader, TRIP, OTHERS[0])
    read(reader)
    reader.close()
    rename = os.rename

    def refuse(source: str, target: str, **more: int) -> None:
        if target.endswith(".vec"):
            raise OSError(errno.EIO, "the disk is tired")
        rename(source, target, **more)

    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(PersonaError) as stopped:
        mind.erase(wanted)
    assert stopped.value.changed != "no"
    assert said_of(TRIP) in {record.said for record in cached()}
    monkeypatch.undo()
    mind.settle()
    assert {record.said for record in cached()} == {said_of(OTHERS[0])}


def test_erasing_reaches_the_vectors_of_every_model_and_without_any_set(opened: Open, cached: Cached) -> None:
    mind = opened()
    wanted, *_ = remember(mind, TRIP, OTHERS[0])
    read(mind)
    mind.close()
    opened(None).erase(wanted)
    assert {record.said for record in cached()} == {said_of(OTHERS[0])}


def test_what_another_process_read_before_an_erasure_is_not_kept_after_it(
    opened: Open, cached: Cached, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    mind, other = opened(), opened(None)
    wanted, *_ = remember(mind, TRIP, *OTHERS)
    meaning = comparing(mind)
    assert meaning.finish(SECONDS)
    services = mind._plugin.services
    scope = services.access.scope(mind._session, services.access.owner(mind._session))
    with monkeypatch.context() as patch:
        patch.setattr(meaning, "_pour", lambda: None)
        services.views.view(scope, ("persona",), clock.now()).prepare()
        assert meaning.finish(SECONDS)
        other.erase(wanted)
    assert meaning.finish(SECONDS)
    assert {record.said for record in cached()} == set(map(said_of, OTHERS))


def test_what_is_remembered_again_on_purpose_is_read_again(opened: Open, cached: Cached) -> None:
    mind = opened()
    wanted, *_ = remember(mind, TRIP, *OTHERS)
    read(mind)
    mind.erase(wanted)
    again = mind.remember(TRIP, insist=True).id
    read(mind)
    assert mind.recall(CUE).ids[0] == again
    assert said_of(TRIP) in {record.said for record in cached()}


def test_another_model_is_told_and_reads_everything_anew(
    opened: Open, cached: Cached, agent_dir: Path, tmp_path: Path
) -> None:
    mind = opened()
    remember(mind, TRIP, *OTHERS)
    read(mind)
    mind.close()
    (before,) = (agent_dir / "persona-mind" / "vectors").iterdir()
    assert len(cached()) == 5
    other = opened(tiny_model.write(tmp_path / "other", "huge"))
    read(other)
    assert [note for note in other.notices if "`recall.vectors` names another model than before" in note]
    assert not list(before.rglob("*.vec"))
    assert len(cached()) == 5
    assert other.recall(CUE).count


def test_the_cache_serves_the_next_process(opened: Open) -> None:
    mind = opened()
    remember(mind, TRIP, *OTHERS)
    read(mind)
    mind.close()
    later = comparing(opened())
    assert later.examine(SECONDS).held == (5, 0)


def test_the_cache_is_private_and_holds_no_word(opened: Open, agent_dir: Path) -> None:
    mind = opened()
    remember(mind, TRIP, *OTHERS)
    read(mind)
    folder = agent_dir / "persona-mind" / "vectors"
    paths = list(folder.rglob("*"))
    assert [path for path in paths if path.suffix == ".vec"]
    for path in (folder, *paths):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600)
        if path.is_file():
            assert not any(word in path.read_bytes() for word in (b"lisbon", b"flight", b"bread"))


def test_nothing_is_written_while_memory_is_off(opened: Open, agent_dir: Path) -> None:
    mind = opened()
    remember(mind, TRIP)
    meaning = comparing(mind)
    assert meaning.pool("facts", Patience.ASKED) is not None
    mind.call("mind.off")
    mind.settle()
    assert meaning.finish(SECONDS)
    assert not (agent_dir / "persona-mind" / "vectors").exists()


def test_backups_and_archives_leave_the_cache_out(opened: Open, tmp_path: Path) -> None:
    mind = opened()
    remember(mind, TRIP, *OTHERS)
    read(mind)
    backup, archive = tmp_path / "backup", tmp_path / "all.zip"
    assert mind.call("profile.backup", {"path": str(backup)}).ok
    assert not [path for path in backup.rglob("*") if "vec" in path.name]
    assert mind.call("archive.export", {"path": str(archive), "allPersonas": True}).ok
    with zipfile.ZipFile(archive) as opened_archive:
        assert not [name for name in opened_archive.namelist() if "vec" in name]
    assert mind.call("profile.restore", {"path": str(backup), "yes": True, "newer": True}).ok
    assert mind.recall(CUE).count


def test_the_setting_stands_in_the_settings_file(
    agent_dir: Path, model: Path, environ: dict[str, str], project: Path
) -> None:
    settings = agent_dir / "persona" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"recall": {"vectors": str(model)}}), "utf-8")
    persona = Persona(environ, project)
    assert persona("mind", "remember", TRIP).code == 0
    # A loaded machine may need more than a person is made to wait.
    assert any(TRIP in persona("mind", "recall", CUE).out for _ in range(5))
    assert f"comparing meanings: {model}, 4 numbers a vector; read 1 facts" in persona("mind", "doctor").out
    settings.write_text(json.dumps({"recall": {"vectors": 7}}), "utf-8")
    assert "recall.vectors" in persona("doctor").out
    assert persona("mind", "recall", "flight").code == 0
