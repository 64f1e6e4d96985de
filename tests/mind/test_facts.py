from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.errors import CapacityError, InvalidError, NotFoundError, PersonaError, RefusedError
from persona_mind.facts.model import LongFact
from persona_mind.facts.params import limit
from persona_mind.facts.service import Facts, Saved
from persona_mind.kernel import clock as clock_module
from persona_mind.kernel.identity import content_id, key
from persona_store.document import Document
from persona_store.rows import ModelCodec
from tests.mind.test_identity import old_form

if TYPE_CHECKING:
    from pathlib import Path

    from persona_mind.library import Mind
    from tests.mind.conftest import Open
    from tests.support.clock import ManualClock

HOUR = 3600.0


def row(text: str, *, kind: str = "note", tags: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:  # noqa: ANN401
    when = "2026-03-01T09:30:00.000Z"
    plain = {"id": content_id(key(kind, text, tags)), "kind": kind, "text": text, "tags": list(tags)}
    return {**plain, "recordedAt": when, "lastSeenAt": when, **more}


def plant(path: Path, *rows: dict[str, Any]) -> None:
    """Write a store as the original does."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    envelope = {"version": 1, "updatedAt": "2026-03-01T09:30:00.000Z", "sequence": 7, "entries": list(rows)}
    path.write_text(json.dumps(envelope, indent=2) + "\n", encoding="utf-8")
    path.chmod(0o600)
    for folder in [path.parent, path.parent.parent, path.parent.parent.parent]:
        folder.chmod(0o700)


def entries(path: Path) -> list[dict[str, Any]]:
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return list(loaded["entries"])


@pytest.fixture
def private(profile: Path) -> Path:
    return profile / "memory" / "ltm" / "Ann.json"


@pytest.fixture
def shared(profile: Path) -> Path:
    return profile / "memory" / "ltm" / "_shared.json"


def refused(action: Any, *arguments: Any, **named: Any) -> PersonaError:  # noqa: ANN401 - any method
    with pytest.raises(PersonaError) as caught:
        action(*arguments, **named)
    return caught.value


def test_a_fact_is_found_by_one_of_its_words(mind: Mind) -> None:
    saved = mind.remember("The staging database listens on port 5433.", kind="gotcha")
    (line,) = mind.recall("staging").lines
    assert (line.fact.id, line.excerpt) == (saved.id, "The staging database listens on port 5433.")


def test_the_parser_keeps_no_text_beyond_the_rows_that_hold_it(mind: Mind, private: Path) -> None:
    mind.remember("Tea at six.", tags=["kitchen"], source="the team")
    once, again = (Document(private.parent, private.name, ModelCodec(LongFact)).read().values[0] for _ in range(2))
    assert once == again
    # A cache would give both the same string, and keep it when it is erased.
    assert once.text is not again.text
    assert once.tags[0] is not again.tags[0]
    assert once.source is not again.source


def test_a_private_fact_stands_in_its_personas_file_in_the_known_format(mind: Mind, private: Path) -> None:
    saved = mind.remember("  Use Tabs  ", kind="convention", tags=["B", "a"], source="the team", derived_from=["abc"])
    moment = "2026-03-02T09:30:00.000Z"
    assert entries(private) == [
        {
            "id": saved.id,
            "kind": "convention",
            "text": "Use Tabs",
            "tags": ["B", "a"],
            "recordedAt": moment,
            "lastSeenAt": moment,
            "source": "the team",
            "derivedFrom": ["abc"],
            "origin": "user",
            "host": "library",
        }
    ]
    assert private.read_text(encoding="utf-8").startswith('{\n  "version": 1,\n  "updatedAt": ')
    assert private.read_bytes().endswith(b"\n}\n")
    assert stat.S_IMODE(private.stat().st_mode) == 0o600


HOSTS = [
    "",
    " ",
    "x" * 129,
    "x" * 100_000,
    5,
    True,
    None,
    [],
    ["pi"],
    {"pi": 1},
    "pi\n✓ Saved",
    "\u202epi",
    "ghp_" + "a1" * 18,
]


@pytest.mark.parametrize("host", [*HOSTS, "My Host"], ids=range(len(HOSTS) + 1))
def test_whatever_a_file_says_of_a_host_hides_no_fact(mind: Mind, private: Path, host: object) -> None:
    plant(private, row("alpha one", host=host), row("beta two"))
    shown = {line.excerpt: line.fact.host for line in mind.recall().lines}
    assert shown == {"alpha one": "my-host" if host == "My Host" else "", "beta two": ""}
    mind.remember("alpha one")
    mind.remember("gamma three")
    assert [entry["text"] for entry in entries(private)] == ["alpha one", "beta two", "gamma three"]


def test_a_working_fact_expires_after_48_hours_or_as_long_as_was_said(mind: Mind, clock: ManualClock) -> None:
    mind.remember("usual", scope="stm")
    mind.remember("short", scope="stm", ttl_hours=6)
    clock.advance(6 * HOUR)
    assert [line.excerpt for line in mind.recall().lines] == ["usual"]
    clock.advance(42 * HOUR)
    assert mind.recall().known == 0


def test_saying_it_again_keeps_id_and_first_time_and_moves_the_last(
    mind: Mind, clock: ManualClock, private: Path
) -> None:
    first = mind.remember("Use tabs")
    clock.advance(HOUR)
    again = mind.remember("use   TABS")
    (kept,) = entries(private)
    assert (again.id, again.again) == (first.id, True)
    assert (kept["text"], kept["recordedAt"][11:13], kept["lastSeenAt"][11:13]) == ("use   TABS", "09", "10")


def test_saying_it_again_never_shortens_its_life(mind: Mind, clock: ManualClock) -> None:
    mind.remember("broken build", scope="stm", ttl_hours=100)
    mind.remember("broken build", scope="stm", ttl_hours=1)
    clock.advance(50 * HOUR)
    assert mind.recall().count == 1


def test_a_models_repetition_does_not_take_the_persons_words_away(mind: Mind) -> None:
    saved = mind.remember("Use tabs")
    mind.remember("Use tabs", origin="model")
    assert mind.read(saved.id).origin == "user"


@pytest.mark.parametrize(
    ("arguments", "scope"),
    [
        ({}, "persona"),
        ({"term": "long"}, "persona"),
        ({"term": "short"}, "stm"),
        ({"shared": True}, "shared"),
        ({"term": "long", "shared": True}, "shared"),
        ({"scope": "project"}, "project"),
        ({"term": "short", "kind": "objective"}, "persona"),
        ({"scope": "stm", "kind": "objective"}, "persona"),
    ],
)
def test_older_and_newer_words_name_the_same_places(mind: Mind, arguments: dict[str, Any], scope: str) -> None:
    assert mind.remember("Use tabs", **arguments).scope == scope


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"ttl_hours": 3}, "ttlHours"),
        ({"scope": "project", "ttl_hours": 3}, "ttlHours"),
        ({"term": "short", "shared": True}, "scope"),
        ({"term": "long", "scope": "stm"}, "scope"),
        ({"scope": "stm", "ttl_hours": 0}, "ttlHours"),
        ({"scope": "stm", "ttl_hours": -1}, "ttlHours"),
        ({"scope": "stm", "ttl_hours": 1e-300}, "ttlHours"),
        ({"scope": "stm", "ttl_hours": 0.9 / 3_600}, "ttlHours"),
        ({"kind": "rule"}, "kind"),
        ({"tags": ["x" * 257]}, "tags.0"),
        ({"tags": ["x"] * 65}, "tags"),
        ({"source": "x" * 1025}, "source"),
        ({"supersedes": "x" * 129}, "supersedes"),
        ({"derived_from": ["x"] * 65}, "derivedFrom"),
    ],
)
def test_a_contradiction_or_a_broken_limit_is_refused_by_field(
    mind: Mind, arguments: dict[str, Any], field: str, profile: Path
) -> None:
    error = refused(mind.remember, "Use tabs", **arguments)
    assert isinstance(error, InvalidError)
    assert error.details["field"] == field
    assert not profile.exists()


@pytest.mark.parametrize("text", ["", "  \n ", "x" * 8193, "😀" * 4097])
def test_an_empty_or_too_long_text_is_refused(mind: Mind, text: str, profile: Path) -> None:
    assert isinstance(refused(mind.remember, text), InvalidError)
    assert not profile.exists()


def test_a_text_at_the_limit_is_kept_whole(mind: Mind) -> None:
    text = "😀" * 4096
    assert mind.read(mind.remember(text).id).fact.text == text


@pytest.mark.parametrize("field", ["text", "tags", "source"])
def test_a_secret_is_refused_in_every_field_and_stored_nowhere(mind: Mind, field: str, profile: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    arguments: dict[str, Any] = {"text": "Use tabs", field: [secret] if field == "tags" else secret}
    error = refused(mind.remember, arguments.pop("text"), **arguments)
    assert (error.reason, error.details["field"]) == ("unsafe_text", field)
    assert secret not in f"{error} {error.details}"
    assert not profile.exists()


def test_superseding_retires_the_older_fact(mind: Mind) -> None:
    old = mind.remember("use tabs")
    new = mind.remember("use spaces", supersedes=old.id)
    assert mind.recall().ids == (new.id,)
    assert new.retired == 1


def test_superseding_retires_where_the_older_fact_stands(mind: Mind, private: Path) -> None:
    old = mind.remember("the build is broken", scope="stm")
    mind.remember("the build needs Node 22", scope="project", supersedes=old.id)
    assert [line.fact.tier for line in mind.recall().lines] == ["project"]
    assert not private.exists()


def test_superseding_what_is_not_there_is_refused_and_writes_nothing(mind: Mind, private: Path) -> None:
    error = refused(mind.remember, "use spaces", supersedes="000000000000")
    assert isinstance(error, NotFoundError)
    assert error.details["field"] == "supersedes"
    assert not private.exists()


def test_a_fact_that_supersedes_itself_is_only_refreshed(mind: Mind) -> None:
    old = mind.remember("use tabs")
    mind.remember("Use tabs", supersedes=old.id)
    assert mind.recall().ids == (old.id,)
    assert mind.read(old.id).supersedes is None


def test_the_same_fact_moves_when_it_supersedes_itself_elsewhere(mind: Mind) -> None:
    old = mind.remember("use tabs", scope="stm")
    mind.remember("use tabs", scope="shared", supersedes=old.id)
    assert [line.fact.tier for line in mind.recall().lines] == ["shared"]
    assert mind.read(old.id).scope == "shared"


def test_forgetting_removes_the_fact_and_nothing_else(mind: Mind, private: Path) -> None:
    gone = mind.remember("use tabs")
    mind.remember("use ruff")
    before = entries(private)[1]
    assert mind.forget(gone.id).removed == 1
    assert entries(private) == [before]


def test_forgetting_removes_a_fact_from_every_place_or_from_the_one_that_is_named(mind: Mind) -> None:
    saved = mind.remember("use tabs")
    mind.remember("use tabs", scope="shared")
    mind.remember("use tabs", scope="stm")
    assert mind.forget(saved.id, scope="stm").scopes == ("stm",)
    assert mind.forget(saved.id).scopes == ("persona", "shared")
    assert mind.recall().known == 0


def test_forgetting_what_is_not_there_says_so_and_creates_nothing(mind: Mind, profile: Path) -> None:
    assert isinstance(refused(mind.forget, "000000000000"), NotFoundError)
    assert not (profile / "memory").exists()


def test_a_row_under_its_older_id_keeps_it_and_answers_to_both(mind: Mind, private: Path) -> None:
    older = old_form("note", "x", ["a,b"])
    plant(private, row("x", tags=("a,b",), id=older))
    assert mind.remember("x", tags=["a,b"]).id == older
    assert mind.recall().total == 1
    assert mind.forget(content_id(key("note", "x", ["a,b"]))).removed == 1


def test_a_shared_id_names_nobody_until_only_one_is_left(mind: Mind, private: Path, shared: Path) -> None:
    older = old_form("note", "x", ["a", "b"])
    plant(private, row("x", tags=("a,b",), id=older))
    plant(shared, row("x", tags=("a", "b"), id=older))
    before = private.read_bytes(), shared.read_bytes()
    error = refused(mind.forget, older)
    assert isinstance(error, RefusedError)
    assert error.reason == "ambiguous_id"
    candidates = error.details["candidates"]
    assert isinstance(candidates, list)
    usable = [item["id"] for item in candidates if isinstance(item, dict) and item["resolves"]]
    assert (len(candidates), usable) == (2, [content_id(key("note", "x", ["a,b"]))])
    assert refused(mind.remember, "y", supersedes=older).reason == "ambiguous_id"
    assert (private.read_bytes(), shared.read_bytes()) == before
    assert mind.forget(str(usable[0])).removed == 1
    assert mind.forget(older).removed == 1
    assert mind.recall().total == 0


def test_what_is_said_again_is_told_as_it_stands_in_its_file(mind: Mind, monkeypatch: pytest.MonkeyPatch) -> None:
    saved: list[Saved] = []
    real = Facts.remember

    def remember(*arguments: Any) -> Saved:  # noqa: ANN401 - passed through
        saved.append(real(*arguments))
        return saved[-1]

    monkeypatch.setattr(Facts, "remember", remember)
    for hours in (48, 1):
        mind.remember("The build is red.", scope="stm", ttl_hours=hours)

    first, again = saved
    assert again.again
    assert again.fact.expires == first.fact.expires == clock_module.parse(again.fact.expires_at or "")


def test_saying_one_of_two_facts_with_a_shared_id_again_leaves_the_other(mind: Mind, private: Path) -> None:
    older = old_form("note", "x", ["a", "b"])
    plant(private, row("x", tags=("a,b",), id=older), row("x", tags=("a", "b"), id=older))
    mind.remember("x", tags=["b", "a"])
    assert sorted(str(entry["tags"]) for entry in entries(private)) == ["['a,b']", "['b', 'a']"]


def test_promotion_moves_a_working_fact_to_the_project_with_its_source(mind: Mind, clock: ManualClock) -> None:
    saved = mind.remember("deploys need a tag", scope="stm", source="the incident", tags=["ci"])
    clock.advance(HOUR)
    assert mind.promote(saved.id).scope == "project"
    kept = mind.read(saved.id)
    assert (kept.scope, kept.expires_at, kept.fact.source, kept.fact.tags) == ("project", None, "the incident", ("ci",))
    assert (kept.recorded_at[11:13], kept.last_seen_at[11:13]) == ("09", "10")
    assert mind.recall(scope="stm").known == 0


def test_what_a_later_release_wrote_of_a_working_fact_is_promoted_with_it(mind: Mind, profile: Path) -> None:
    saved = mind.remember("The lab opens at six.", scope="stm")
    (working,) = (profile / "memory" / "stm").glob("*.json")
    plant(working, {**entries(working)[0], "mood": {"is": [1, 2.5]}})

    mind.promote(saved.id, scope="persona")

    (kept,) = entries(profile / "memory" / "ltm" / "Ann.json")
    assert kept["mood"] == {"is": [1, 2.5]}
    assert "expiresAt" not in kept


def test_a_clock_that_is_set_back_brings_back_what_had_expired(mind: Mind, clock: ManualClock) -> None:
    mind.remember("The lab opens at six.", scope="stm", ttl_hours=1)
    clock.advance(2 * HOUR)
    assert mind.recall("lab").count == 0
    clock.advance(-1.5 * HOUR)
    assert mind.recall("lab").count == 1


@pytest.mark.parametrize("scope", ["persona", "shared"])
def test_promotion_goes_elsewhere_when_that_is_named(mind: Mind, scope: str) -> None:
    saved = mind.remember("deploys need a tag", scope="stm")
    assert mind.promote(saved.id, scope=scope).scope == scope
    assert [line.fact.tier for line in mind.recall().lines] == [scope]


def test_an_expired_or_kept_fact_is_not_promoted(mind: Mind, clock: ManualClock) -> None:
    expired = mind.remember("broken", scope="stm", ttl_hours=1)
    kept = mind.remember("use tabs")
    clock.advance(2 * HOUR)
    assert isinstance(refused(mind.promote, expired.id), NotFoundError)
    assert refused(mind.promote, kept.id).reason == "not_working"
    assert mind.recall(scope="long").total == 1


def test_home_is_no_project(opened: Open, home: Path) -> None:
    mind = opened(cwd=home)
    saved = mind.remember("for now", scope="stm")
    assert refused(mind.remember, "x", scope="project").reason == "no_project"
    assert refused(mind.promote, saved.id).reason == "no_project"
    assert mind.promote(saved.id, scope="persona").scope == "persona"


def test_all_personas_see_the_projects_working_facts_and_only_their_own_private_ones(opened: Open) -> None:
    ann, bob = opened("Ann"), opened("Bob")
    ann.remember("private to Ann")
    ann.remember("for all", scope="shared")
    ann.remember("of the project", scope="project")
    ann.remember("seen by Ann", scope="stm")
    assert {line.excerpt for line in bob.recall().lines} == {"for all", "of the project", "seen by Ann"}
    assert "Ann" in bob.call("memory.recall", {"query": "seen"}).text


def test_only_its_owner_changes_a_working_fact(opened: Open) -> None:
    ann, bob = opened("Ann"), opened("Bob")
    saved = ann.remember("the build is broken", scope="stm")
    for attempt in (bob.forget, bob.promote):
        error = refused(attempt, saved.id)
        assert (error.reason, error.details["owner"]) == ("not_owner", "Ann")
    assert refused(bob.remember, "it is fixed", supersedes=saved.id).reason == "not_owner"
    assert ann.recall(scope="stm").total == 1
    assert bob.recall(scope="persona").total == 0


def test_equal_working_facts_of_two_personas_are_two_rows(opened: Open, profile: Path) -> None:
    ann, bob = opened("Ann"), opened("Bob")
    saved = ann.remember("the build is broken", scope="stm")
    bob.remember("the build is broken", scope="stm", ttl_hours=9)
    gone = bob.forget(saved.id)
    assert (gone.removed, gone.kept) == (1, 1)
    (path,) = (profile / "memory" / "stm").glob("*.json")
    assert [entry["persona"] for entry in entries(path)] == ["Ann"]
    assert bob.recall(scope="stm").count == 1


def test_promotion_takes_its_own_row_and_leaves_another_personas_equal_one(opened: Open) -> None:
    ann, bob = opened("Ann"), opened("Bob")
    saved = ann.remember("the build is broken", scope="stm")
    bob.remember("the build is broken", scope="stm")
    bob.promote(saved.id)
    assert [line.fact.persona for line in ann.recall(scope="stm").lines] == ["Ann"]
    assert ann.recall(scope="project").count == 1


def test_the_owner_without_a_persona_is_an_owner_of_its_own(opened: Open, profile: Path) -> None:
    opened(None).remember("mine")
    assert (profile / "memory" / "ltm" / "_default.json").exists()
    assert opened("Ann").recall().known == 0


def test_the_newest_come_first_where_nothing_is_asked(mind: Mind, clock: ManualClock) -> None:
    for text in ("one smb", "two", "three smb"):
        mind.remember(text)
        clock.advance(60)
    assert [line.excerpt for line in mind.recall(max=2).lines] == ["three smb", "two"]
    assert {line.excerpt for line in mind.recall("smb").lines} == {"one smb", "three smb"}


@pytest.mark.parametrize("text", ["数据库在端口五四三三", "قاعدة البيانات على المنفذ"])
def test_a_query_in_any_script_finds_its_row(mind: Mind, text: str) -> None:
    mind.remember(text)
    mind.remember("something else")
    assert [line.excerpt for line in mind.recall(text).lines] == [text]


def test_a_page_says_how_many_there_are_in_all(mind: Mind) -> None:
    for number in range(55):
        mind.remember(f"smb share {number}")
    page = mind.recall("smb", max=2)
    assert (page.count, page.total, page.withheld) == (2, 55, 53)
    told = [mind.call("memory.recall", {"query": "smb", "max": most}).text for most in (2, 50)]
    assert ["`--max`" in text for text in told] == [True, False]
    assert mind.recall("smb", max=999).count == 50
    assert mind.recall("smb", max=-1).count == 1
    assert mind.recall("smb", max=2.9).count == 2


@pytest.mark.parametrize(
    ("asked", "given"),
    [(None, 8), (float("nan"), 8), (-10, 1), (1.9, 1), (999, 50), (float("inf"), 50), (float("-inf"), 1)],
)
def test_the_number_of_hits_is_kept_in_bounds(asked: float | None, given: int) -> None:
    assert limit(asked) == given


def test_several_scopes_are_searched_at_once(mind: Mind) -> None:
    for scope in ("persona", "shared", "project", "stm"):
        mind.remember(f"smb in {scope}", scope=scope)
    assert mind.recall("smb", scope=["shared", "stm"]).count == 2
    assert mind.recall("smb", scope="long").count == 3
    assert mind.recall("smb", scope="short").count == 1
    assert mind.recall("smb", scope="both").count == 4


def test_a_fact_that_stands_in_two_places_is_found_once(mind: Mind) -> None:
    mind.remember("smb share", scope="shared")
    mind.remember("smb share")
    assert [line.fact.tier for line in mind.recall("smb").lines] == ["persona"]


def test_no_answer_repeats_its_query(mind: Mind) -> None:
    mind.remember("use tabs")
    for query in ("xylophone", "xylophone " * 400):
        answer = mind.call("memory.recall", {"query": query})
        assert "xylophone" not in answer.text + str(answer.details)
        assert len(answer.text) < 300


@pytest.mark.parametrize("query", ["!!!", "…", "\U0001f389", "—?"])
def test_a_query_without_a_word_finds_nothing_and_is_no_miss_of_an_empty_memory(mind: Mind, query: str) -> None:
    empty = mind.call("memory.recall").text
    mind.remember("use tabs")
    answer = mind.call("memory.recall", {"query": query, "scope": ["both", "sessions"]})
    assert (answer.ok, answer.details["count"], answer.details["total"], answer.details["ids"]) == (True, 0, 0, [])
    assert answer.text != empty
    assert mind.recall("  ").count == 1


def test_an_empty_memory_and_a_missed_query_are_told_apart(mind: Mind) -> None:
    empty = mind.call("memory.recall").text
    mind.remember("use tabs")
    assert mind.call("memory.recall", {"query": "xylophone"}).text != empty


def test_a_long_fact_is_shown_in_part_by_recall_and_whole_by_read(mind: Mind) -> None:
    text = "The staging database listens on port 5433. " * 40
    saved = mind.remember(text)
    (line,) = mind.recall("staging").lines
    assert not line.whole
    assert len(line.excerpt) <= 240
    assert mind.read(saved.id).fact.text == text.strip()


def test_a_row_that_breaks_a_rule_on_disk_is_found_and_its_text_is_not_shown(mind: Mind, private: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    plant(private, row(f"the token is {secret}"))
    found = mind.recall("token")
    assert (found.count, found.withheld_unsafe) == (1, 1)
    answer = mind.call("memory.read", {"id": found.ids[0]})
    assert secret not in mind.call("memory.recall").text + answer.text + str(answer.details)
    assert "withheld" in answer.text


def test_a_row_that_breaks_a_rule_takes_no_other_rows_place(mind: Mind, private: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    plant(private, *(row(f"token token {secret} {at}") for at in range(5)))
    saved = [mind.remember(f"the token of house number {at} is kept in a drawer").id for at in range(3)]
    found = mind.recall("token", max=2)
    assert set(found.ids) <= set(saved)
    assert (found.count, found.total, found.withheld_unsafe) == (2, 8, 5)
    assert "5 facts withheld" in mind.call("memory.recall", {"query": "token", "max": 2}).text
    assert len(mind.recall("token", max=4).ids) == 4


def test_reading_changes_no_byte(mind: Mind, private: Path, profile: Path) -> None:
    saved = mind.remember("use tabs")
    before = {path: path.read_bytes() for path in profile.rglob("*") if path.is_file()}
    mind.recall("tabs")
    mind.read(saved.id)
    mind.inject("tabs")
    mind.snapshot()
    mind.doctor()
    assert {path: path.read_bytes() for path in profile.rglob("*") if path.is_file()} == before
    assert private in before


def test_rows_of_the_original_are_read_and_kept_with_what_is_unknown_in_them(mind: Mind, private: Path) -> None:
    known = row("use tabs", supersedes="abc", source="a friend", derivedFrom=["d1"], futureField={"x": 1})
    broken = row("no kind", kind="rule")
    plant(private, known, broken)
    assert mind.recall().known == 1
    mind.remember("use ruff")
    assert entries(private)[:2] == [known, broken]
    mind.remember("Use tabs")
    assert entries(private)[0]["futureField"] == {"x": 1}


def test_a_short_row_in_a_long_file_and_the_reverse_are_not_read(mind: Mind, private: Path, profile: Path) -> None:
    slug = mind.doctor().slug
    plant(private, row("ends", expiresAt="2027-01-01T00:00:00.000Z"))
    plant(profile / "memory" / "stm" / f"{slug}.json", row("never ends", persona="Ann"))
    assert mind.recall().known == 0
    states = {store.name: store.state for store in mind.doctor().stores}
    assert (states["long-term"], states["short-term"]) == ("invalid", "invalid")


def test_a_newer_file_is_refused_by_version_and_left_alone(mind: Mind, private: Path) -> None:
    plant(private)
    private.write_text(private.read_text().replace('"version": 1', '"version": 2'))
    before = private.read_bytes()
    for attempt in (mind.recall, lambda: mind.forget("abc"), lambda: mind.remember("use tabs")):
        error = refused(attempt)
        assert error.reason == "unsupported_version"
        assert "2" in str(error.details)
    assert private.read_bytes() == before


def test_a_file_where_the_folder_should_be_is_a_storage_error(mind: Mind, profile: Path) -> None:
    profile.mkdir(parents=True, mode=0o700)
    (profile / "memory").write_text("in the way")
    error = refused(mind.remember, "use tabs")
    assert error.changed == "no"
    assert isinstance(error, OSError | PermissionError)


def test_a_full_store_is_named_by_its_limit(mind: Mind, private: Path) -> None:
    plant(private, *(row(f"fact {number}") for number in range(10_000)))
    error = refused(mind.remember, "one more")
    assert isinstance(error, CapacityError)
    assert "10000" in str(error.details["limit"]).replace(",", "").replace("_", "")


def test_expired_working_facts_leave_the_disk_when_nobody_waits(mind: Mind, clock: ManualClock, profile: Path) -> None:
    mind.remember("goes", scope="stm", ttl_hours=1)
    mind.remember("stays", scope="stm")
    clock.advance(2 * HOUR)
    mind.inject("anything")
    (path,) = (profile / "memory" / "stm").glob("*.json")
    assert len(entries(path)) == 2
    mind.settle()
    assert [entry["text"] for entry in entries(path)] == ["stays"]
