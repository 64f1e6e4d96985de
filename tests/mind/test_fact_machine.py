"""Any sequence of all fact verbs, by two personas in two projects, leaves what a plain model of the files holds.

Before each step the model says what every file will hold, or why the step is refused. Afterwards every file of the
profile is compared with it: what was acknowledged field by field, all other rows byte for byte.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from datetime import timedelta
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import persona_mind
from persona_mind.facts.model import MAX_SOURCE
from persona_mind.kernel.identity import content_id
from persona_mind.kernel.rowfields import MAX_TAG
from persona_mind.kernel.scope import find_project
from persona_store import jsontext
from persona_store.layout import files_below
from tests.mind.fact_drawn import FOREIGN, FORMS, ILLEGAL, WIDE, legal, spelt
from tests.mind.fact_model import (
    LONG_ENOUGH,
    SEATS,
    TIERS,
    UNKNOWN,
    FactModel,
    Refusal,
    Rows,
    Seat,
    Value,
    decoded,
    key_of,
    plain,
    stones,
    text_of,
    without_nulls,
)
from tests.support.clock import ManualClock

if TYPE_CHECKING:
    from collections.abc import Callable

    from persona_hooks.verbs import Origin
    from persona_mind.library import Mind

T = TypeVar("T")

NOTHING = jsontext.Envelope("", 0, [])


def _standing(*tiers: str) -> st.SearchStrategy[tuple[Seat, str]]:
    """Draw who asks, and the id of a row in one of these files of theirs."""

    def rows(machine: FactMachine) -> st.SearchStrategy[tuple[Seat, str]]:
        held = [(seat, row) for seat in SEATS for row in machine.model.held(seat)]
        found = [(seat, row.value["id"]) for seat, row in held if row.tier in tiers]
        return st.sampled_from(found or [(SEATS[0], "000000000000")])

    return st.runner().flatmap(rows)


def _ever(machine: FactMachine) -> st.SearchStrategy[tuple[Seat, str]]:
    return st.tuples(st.sampled_from(SEATS), st.sampled_from(machine.ids))


TEXT = st.runner().flatmap(lambda machine: st.sampled_from(machine.texts))
FORM, SEAT, TIER = st.sampled_from(FORMS), st.sampled_from(SEATS), st.sampled_from(TIERS)
ERASED = st.runner().flatmap(lambda machine: st.sampled_from(sorted(machine.model.words)))
ORIGIN = st.sampled_from(["user", "user", "user", "model", "tool"])
NAMED = _standing(*TIERS) | _standing(*TIERS) | st.runner().flatmap(_ever)
"""Who asks, and an id: most often of what stands in a file of theirs, else of whatever had one."""


class FactMachine(RuleBasedStateMachine):
    """Four libraries on one agent directory stand for four processes."""

    def __init__(self) -> None:
        super().__init__()
        self.home = Path(tempfile.mkdtemp())
        self.profile = self.home / "agent" / "persona-mind"
        self.clock = ManualClock()
        self.model = FactModel({name: self._project(name) for name in ("rocket", "garden")}, self.clock.now)
        self.minds = {seat: self._open(seat) for seat in SEATS}
        self.next_seat = cycle(SEATS)
        self.texts: tuple[str, ...] = ()
        self.ids = ["000000000000"]

    def _project(self, name: str) -> str:
        (self.home / name / ".git").mkdir(parents=True)
        return find_project(self.home / name, self.home).slug

    def _open(self, seat: Seat) -> Mind:
        agent, cwd = self.home / "agent", self.home / seat.project
        return persona_mind.open(agent, cwd=cwd, persona=seat.persona, now=self.clock.now, home=self.home)

    @initialize(texts=st.tuples(WIDE, WIDE, WIDE), rows=st.lists(FOREIGN, min_size=4, max_size=9))
    def open_a_profile_of_others(self, texts: tuple[str, ...], rows: list[Value]) -> None:
        self.texts = texts
        for row in rows:
            self.let_another_program_write(row)

    # What is done.

    @rule(
        named=NAMED,
        text=TEXT,
        form=FORM,
        given=st.fixed_dictionaries(
            {"scope": TIER, "kind": st.sampled_from(["note", "note", "objective", "gotcha"])},
            optional={"ttl_hours": st.sampled_from([0.5, 6, 100]), "derived_from": st.just(["elder-1"])},
        ),
        tags=st.lists(TEXT | st.sampled_from(["ci", " a,b "]), max_size=1),
        source=st.none() | TEXT,
        supersedes=st.sampled_from([False, False, True]),
        insist=st.sampled_from([False, False, False, True]),
        origin=ORIGIN,
        times=st.sampled_from([1, 2]),
    )
    def remember(
        self,
        named: tuple[Seat, str],
        text: str,
        form: str,
        given: Value,
        source: str | None,
        origin: Origin,
        times: int,
        **more: Any,  # noqa: ANN401 - drawn
    ) -> None:
        seat, handle = named
        given = {**given, **more, "text": spelt(form, text), "supersedes": handle if more["supersedes"] else None}
        given["tags"] = [tag for tag in given["tags"] if len(tag) <= MAX_TAG]
        given["source"] = source if source and len(source) <= MAX_SOURCE else None
        if given["scope"] != "stm" or given["kind"] == "objective":
            given.pop("ttl_hours", None)
        given = without_nulls(given)
        for _ in range(times):
            self._remember(seat, given, origin)

    @rule(named=_standing(*TIERS) | _standing("stm"), form=FORM, hours=st.sampled_from([0.5, 100]), origin=ORIGIN)
    def say_again(self, named: tuple[Seat, str], form: str, hours: float, origin: Origin) -> None:
        seat, handle = named
        row = next((row for row in self.model.held(seat) if row.value["id"] == handle), None)
        text = spelt(form, row.value["text"]) if row is not None else ""
        # What was spelt anew several times may have become too long.
        if row is not None and legal(text):
            given = {"text": text, "kind": row.value["kind"], "scope": row.tier, "tags": row.value["tags"]}
            ends = {"ttl_hours": hours} if row.tier == "stm" and row.value["kind"] != "objective" else {}
            self._remember(seat, {**given, **ends, "insist": False}, origin)

    @precondition(lambda machine: machine.model.words)
    @rule(seat=SEAT, text=ERASED, form=FORM, tier=TIER, field=st.sampled_from(["text", "source"]), origin=ORIGIN)
    def insist_on_what_was_erased(
        self, seat: Seat, text: str, form: str, tier: str, field: str, origin: Origin
    ) -> None:
        text = spelt(form, text)
        if legal(text) and (field == "text" or len(text) <= MAX_SOURCE):
            given = {"text": "Milk, too", "kind": "gotcha", "scope": tier, "tags": [], "insist": True, field: text}
            self._remember(seat, given, origin)

    @rule(seat=SEAT, given=ILLEGAL)
    def remember_what_may_not_be(self, seat: Seat, given: Value) -> None:
        before = self._files()
        answer = self.minds[seat].call("memory.remember", {"text": "Tea", **given})
        assert (answer.ok, answer.changed) == (False, "no")
        assert self._files() == before

    @rule(named=NAMED | _standing("stm"), tier=st.none() | st.none() | TIER)
    def forget(self, named: tuple[Seat, str], tier: str | None) -> None:
        seat, handle = named
        given = without_nulls({"id": handle, "scope": tier})
        self._do(seat, "forget", given, lambda: self.model.forget(seat, handle, tier))

    @rule(named=_standing("stm") | _standing("stm") | NAMED, tier=st.sampled_from(["project", "persona", "shared"]))
    def promote(self, named: tuple[Seat, str], tier: str) -> None:
        seat, handle = named
        self._do(seat, "promote", {"id": handle, "scope": tier}, lambda: self.model.promote(seat, handle, tier))

    @rule(named=NAMED, everywhere=st.booleans(), origin=st.sampled_from(["user", "user", "user", "model"]))
    def erase(self, named: tuple[Seat, str], everywhere: bool, origin: Origin) -> None:  # noqa: FBT001 - drawn
        seat, handle = named
        texts: set[str] = set()

        def change() -> Rows:
            if origin != "user":
                raise Refusal("not_a_person")
            after, gone = self.model.erase(seat, handle, self._previous, everywhere=everywhere)
            texts.update(gone)
            return after

        self._do(seat, "erase", {"id": handle, "everywhere": everywhere}, change, origin=origin, scrubbed=texts)
        long = [text.strip() for text in texts if len(plain(text)) >= LONG_ENOUGH]
        written = [form.encode() for text in long for form in (text, json.dumps(text)[1:-1])]
        assert not [name for name, data in self._files().items() if any(form in data for form in written)]
        for text in texts:
            given = {"text": text, "kind": "gotcha", "scope": "shared", "tags": ["ci"], "insist": False}
            self._remember(seat, given, "user")

    @rule(seat=SEAT, query=TEXT, tier=st.none() | TIER)
    def recall(self, seat: Seat, query: str, tier: str | None) -> None:
        before = self._files()
        told = self.minds[seat].recall(query[:512], scope=tier, max=50)
        seen = {(row.tier, row.value["text"]) for row in self.model.visible(seat) if tier in {None, row.tier}}
        assert {(line.fact.tier, line.fact.text) for line in told.lines} <= seen
        assert self._files() == before

    @rule(hours=st.sampled_from([0.25, 1, 5, 47, 60]))
    def let_time_pass(self, hours: float) -> None:
        self.clock.advance(hours * 3_600)

    @rule(seats=st.sampled_from([*[[seat] for seat in SEATS], SEATS]), hours=st.sampled_from([0, 0, -3, -50]))
    def restart(self, seats: list[Seat], hours: float) -> None:
        """Begin anew, one or all of them; the clock may have been set back meanwhile."""
        self.clock.set(self.clock.now() + timedelta(hours=hours))
        for seat in seats:
            self.minds[seat].close()
            self.minds[seat] = self._open(seat)

    @rule(row=FOREIGN)
    def let_another_program_write(self, row: Value) -> None:
        """Plant a row as the original, a later release or somebody else would write it; never of what was erased."""
        seat, tier, shape = row["seat"], row["tier"], row["shape"]
        text = spelt(row["form"], self.texts[row["text"]]).strip()
        if stones(text, row["tags"], None) & self.model.erased:
            return
        moment = self.model.moment(-abs(row["hours"]))
        value = {"kind": "note", "text": text, "tags": row["tags"], "recordedAt": moment, "lastSeenAt": moment}
        value = {"id": content_id(key_of(value)), **value, **row["more"]}
        if tier in {"project", "stm"}:
            value |= {"own": {"persona": seat.persona}, "nobody": {}}.get(row["persona"], {"persona": row["persona"]})
        if tier == "stm":
            value["expiresAt"] = self.model.moment(row["hours"])
        value |= {"later": {**UNKNOWN, "origin": "user"}, "unreadable": {"kind": "prophecy"}}.get(shape, {})
        written = {"no object": [text, 1], "nothing": None}.get(shape, value)
        raw = json.dumps(written, indent=row["indent"], ensure_ascii=row["first"]).encode()
        place = self.model.place(seat, tier)
        rows = self.model.rows[place]
        self._plant(place, [raw, *rows] if row["first"] else [*rows, raw])
        self.ids.append(value["id"])

    @rule(seat=SEAT, tier=TIER)
    def let_a_later_release_add_fields(self, seat: Seat, tier: str) -> None:
        place = self.model.place(seat, tier)
        rows = [
            jsontext.encode_row({**UNKNOWN, **decoded(raw)}) if isinstance(decoded(raw), dict) else raw
            for raw in self.model.rows[place]
        ]
        if rows:
            self._plant(place, rows)

    # What holds.

    @invariant()
    def every_reader_sees_what_the_files_hold(self) -> None:
        seat = next(self.next_seat)
        with self._open(seat) as fresh:
            for mind in (self.minds[seat], fresh):
                self._agrees(mind, seat)
            for handle in {handle for row in self.model.visible(seat) for handle in row.handles}:
                self._reads(fresh, seat, handle)

    def _agrees(self, mind: Mind, seat: Seat) -> None:
        told, shown = mind.recall(max=50), self.model.shown(seat)
        assert (told.known, told.count) == (len(shown), len(shown))
        lines = [(line.fact.tier, line.fact.id, line.fact.text, line.fact.tags) for line in told.lines]
        rows = [(row.tier, row.value["id"], row.value["text"], tuple(row.value["tags"])) for row in shown]
        assert sorted(lines) == sorted(rows)

    def _reads(self, mind: Mind, seat: Seat, handle: str) -> None:
        answer = mind.call("memory.read", {"id": handle})
        row, reason = judged(lambda: self.model.read(seat, handle))
        assert (answer.error.reason if answer.error else None) == reason
        if row is None:
            return
        opened: Any = answer.outcome
        found = {"text": opened.fact.text, "tags": list(opened.fact.tags), "source": opened.fact.source or None}
        found |= {"supersedes": opened.supersedes, "derivedFrom": opened.derived_from and list(opened.derived_from)}
        found |= {"id": opened.id, "kind": opened.kind, "persona": opened.persona, "expiresAt": opened.expires_at}
        found |= {"recordedAt": opened.recorded_at, "lastSeenAt": opened.last_seen_at, "host": opened.host}
        found |= {"origin": opened.origin, "scope": opened.scope}
        wanted = {"origin": "import", **row.value, "scope": row.tier}
        assert without_nulls(found) == without_nulls({name: wanted.get(name) for name in found})

    def _remember(self, seat: Seat, given: Value, origin: Origin) -> None:
        self._do(seat, "remember", given, lambda: self.model.remember(seat, given, origin), origin=origin)

    def _do(
        self,
        seat: Seat,
        verb: str,
        given: Value,
        change: Callable[[], Rows],
        *,
        origin: Origin = "user",
        scrubbed: set[str] | None = None,
    ) -> None:
        """Do what the model says, or be refused for the reason that it gives."""
        before = self._files()
        after, reason = judged(change)
        answer = self.minds[seat].call(f"memory.{verb}", given, origin=origin)
        assert (answer.error.reason if answer.error else None) == reason
        if after is None:
            assert answer.changed == "no"
            assert self._files() == before
        else:
            self._settle(before, after, scrubbed=bool(scrubbed))
            self.ids.append(answer.details["id"])
            self._reads(self.minds[seat], seat, answer.details["id"])

    def _settle(self, before: dict[str, bytes], wanted: Rows, *, scrubbed: bool) -> None:
        """Compare every file with what it has to hold, and learn the bytes of the rows that were written."""
        files = self._files()
        tombstones = {"tombstones.json", "tombstones.json.bak", "profile.key"} if self.model.erased_ids else set()
        assert files.keys() <= {f"{place}{end}" for place in wanted for end in ("", ".bak")} | tombstones
        for place, rows in wanted.items():
            old, new = envelope(before, place), envelope(files, place)
            assert len(new.rows) == len(rows)
            for raw, row in zip(new.rows, rows, strict=True):
                assert raw == row if isinstance(row, bytes) else without_nulls(json.loads(raw)) == row
            changed = new.rows != old.rows
            assert new.sequence == old.sequence + changed
            assert changed or files.get(place) == before.get(place)
            previous = f"{place}.bak"
            if scrubbed:
                assert files.get(previous) in {None, files.get(place)}
            else:
                assert files.get(previous) == before.get(place if changed else previous)
            self.model.rows[place] = new.rows
        assert envelope(files, "tombstones.json").sequence >= envelope(before, "tombstones.json").sequence
        texts = {
            text_of(row) for name in files for row in map(decoded, envelope(files, name).rows) if isinstance(row, dict)
        }
        assert not self.model.words & set(map(plain, texts))

    def _plant(self, place: str, rows: list[bytes]) -> None:
        path = self.profile / place
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.with_name("new").write_bytes(
            jsontext.join(self.model.moment(), envelope(self._files(), place).sequence + 1, rows)
        )
        path.with_name("new").replace(path)
        self.model.rows[place] = envelope(self._files(), place).rows
        assert self.model.rows[place] == rows

    def _files(self) -> dict[str, bytes]:
        names = [name for name in files_below(self.profile) if not name.startswith(".locks/")]
        return {name: (self.profile / name).read_bytes() for name in names}

    def _previous(self, place: str) -> list[bytes]:
        return envelope(self._files(), f"{place}.bak").rows

    def teardown(self) -> None:
        for mind in self.minds.values():
            mind.close()
        shutil.rmtree(self.home)


def judged(step: Callable[[], T]) -> tuple[T | None, str | None]:
    """Return what the model says, or the reason that it refuses for."""
    try:
        return step(), None
    except Refusal as refusal:
        return None, str(refusal)


def envelope(files: dict[str, bytes], name: str) -> jsontext.Envelope:
    document = name in files and not name.endswith(".key")
    return jsontext.split(files[name]) if document else NOTHING


TestFactMachine = FactMachine.TestCase
TestFactMachine.settings = settings(
    max_examples=40,
    stateful_step_count=20,
    deadline=None,
    # A text is drawn whole and then judged by the rules, and a step writes to a real disk.
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
pytestmark = pytest.mark.timeout(300)
