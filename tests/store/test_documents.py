"""Rows are bytes first: what was not changed is written back as it stood."""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from pydantic import BaseModel, ConfigDict, Field

from persona_hooks.errors import (
    BusyError,
    CapacityError,
    ConflictError,
    CorruptError,
    InvalidError,
    RefusedError,
    StorageError,
    UncertainError,
    UnsupportedVersionError,
)
from persona_store import files, jsontext
from persona_store.document import Document, ModelCodec
from persona_store.locks import LockOrderError
from persona_store.transaction import Profile

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


class Fact(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", populate_by_name=True)

    id: str
    text: str
    last_seen_at: str | None = Field(default=None, alias="lastSeenAt")


@pytest.fixture
def profile(agent_dir: Path) -> Profile:
    return Profile(agent_dir / "persona-mind", lambda: NOW)


@pytest.fixture
def facts(profile: Profile) -> Document[Fact]:
    return profile.document("memory/ltm/elite.json", Fact)


def add(profile: Profile, facts: Document[Fact], *identities: str) -> None:
    with profile.transaction() as transaction:
        for identity in identities:
            row = facts.row(Fact(id=identity, text="text"))
            transaction.update(facts, lambda snapshot, row=row: [*snapshot.rows, row])  # type: ignore[misc]


def lay(document: Document[Fact], data: bytes) -> None:
    document.path.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
    document.path.write_bytes(data)


def whole(*rows: str, sequence: int = 4) -> bytes:
    return jsontext.join("2026-03-01T00:00:00.000Z", sequence, [row.encode() for row in rows])


def test_reading_what_is_not_there_creates_nothing(profile: Profile, facts: Document[Fact]) -> None:
    snapshot = facts.read()

    assert (snapshot.values, snapshot.sequence, snapshot.exists) == ((), 0, False)
    assert not profile.root.exists()


def test_a_document_stands_in_the_format_of_the_original(profile: Profile, facts: Document[Fact]) -> None:
    add(profile, facts, "a")

    assert facts.path.read_text() == (
        '{\n  "version": 1,\n  "updatedAt": "2026-03-02T09:30:00.000Z",\n  "sequence": 1,\n  "entries": [\n'
        '    {\n      "id": "a",\n      "text": "text"\n    }\n  ]\n}\n'
    )


def test_an_emptied_document_is_still_one(profile: Profile, facts: Document[Fact]) -> None:
    add(profile, facts, "a")
    with profile.transaction() as transaction:
        transaction.update(facts, lambda _: [])

    assert json.loads(facts.path.read_bytes())["entries"] == []
    assert Document(profile.root, facts.relative, facts.codec).read().sequence == 2


def test_files_and_directories_are_private(profile: Profile, facts: Document[Fact]) -> None:
    add(profile, facts, "a", "b")

    modes = {oct(path.stat().st_mode & 0o777) for path in profile.root.rglob("*") if path.is_file()}
    assert modes == {"0o600"}
    assert {oct(path.stat().st_mode & 0o777) for path in (profile.root, *profile.root.rglob("*")) if path.is_dir()} == {
        "0o700"
    }


def test_rows_nobody_changed_keep_their_bytes(profile: Profile, facts: Document[Fact]) -> None:
    odd = [
        '{"id":"a","text":"compact","extra":[1.50,{"z":null}]}',
        '{\n      "text" : "spaced",   "id":"b"\n    }',
        '{"id": 7, "text": "not ours"}',
        '"no object at all"',
        "null",
        '{"id": "c", "text": "\\ud800"}',
        '{"id": "d", "text": "\\u00e9", "text": "twice"}',
    ]
    lay(facts, whole(*odd))

    add(profile, facts, "new")

    snapshot = facts.read()
    assert [row.raw.decode() for row in snapshot.rows[:-1]] == odd
    assert [fact.id for fact in snapshot.values] == ["a", "b", "d", "new"]
    assert snapshot.invalid == 4


def test_a_changed_row_keeps_the_fields_nobody_here_knows(profile: Profile, facts: Document[Fact]) -> None:
    lay(facts, whole('{"future": {"a": 1}, "id": "a", "lastSeenAt": "then", "text": "old"}'))
    with profile.transaction() as transaction:
        transaction.update(
            facts,
            lambda snapshot: [
                facts.revise(row, row.value.model_copy(update={"text": "new", "last_seen_at": None}))
                for row in snapshot.rows
                if row.value
            ],
        )

    assert json.loads(facts.path.read_bytes())["entries"] == [{"future": {"a": 1}, "id": "a", "text": "new"}]


def test_revising_to_an_equal_value_gives_the_same_row(facts: Document[Fact]) -> None:
    row = facts.row(Fact(id="a", text="t"))

    assert facts.revise(row, Fact(id="a", text="t")) is row


def test_any_layout_is_read_alike(profile: Profile, facts: Document[Fact]) -> None:
    lay(facts, whole('{"id":"a","text":"x"}', '{"id":"b","text":"y"}'))
    canonical = facts.read()
    lay(
        facts,
        b'{"entries":[ {"id":"a","text":"x"} ,\n{"id":"b","text":"y"}],"sequence":4,'
        b'"updatedAt":"2026-03-01T00:00:00.000Z","version":1}',
    )

    assert Document(profile.root, facts.relative, facts.codec).read().values == canonical.values


def test_a_change_of_nothing_writes_nothing(profile: Profile, facts: Document[Fact]) -> None:
    add(profile, facts, "a")
    before = files.Stamp.of(facts.path.stat())
    with profile.transaction() as transaction:
        unchanged = [
            transaction.update(facts, lambda _: None),
            transaction.update(facts, lambda snapshot: list(snapshot.rows)),
        ]

    assert [committed.changed for committed in unchanged] == [False, False]
    assert files.Stamp.of(facts.path.stat()) == before


def test_the_previous_version_stays_beside_the_present_one(profile: Profile, facts: Document[Fact]) -> None:
    add(profile, facts, "a")
    first = facts.path.read_bytes()
    add(profile, facts, "b")

    assert facts.path.with_name("elite.json.bak").read_bytes() == first


def test_rows_that_stay_are_shared_between_versions(profile: Profile, facts: Document[Fact]) -> None:
    add(profile, facts, "a")
    first = facts.read().rows[0]
    other = Profile(profile.root, lambda: NOW)
    add(other, other.document(facts.relative, Fact), "b")

    assert facts.read().rows[0] is first
    assert facts.read() is facts.read()


def test_an_edit_in_place_of_the_same_size_is_noticed(profile: Profile, facts: Document[Fact]) -> None:
    add(profile, facts, "a")
    assert facts.read().values[0].id == "a"

    facts.path.write_bytes(facts.path.read_bytes().replace(b'"a"', b'"z"'))

    assert facts.read().values[0].id == "z"


def test_an_expected_fingerprint_is_that_of_the_bytes(profile: Profile, facts: Document[Fact]) -> None:
    add(profile, facts, "a")
    seen = facts.read().fingerprint
    replaced = facts.path.read_bytes().replace(b'"text"', b'"TEXT"')
    facts.path.write_bytes(replaced)

    with profile.transaction() as transaction, pytest.raises(ConflictError) as caught:
        transaction.update(facts, lambda _: [], expect=seen)
    assert caught.value.reason == "fingerprint"
    assert facts.path.read_bytes() == replaced


def test_the_caller_is_asked_before_the_lock_and_before_the_rename_and_never_after(
    profile: Profile, facts: Document[Fact]
) -> None:
    asked: list[bool] = []

    def check() -> None:
        asked.append(facts.path.exists())

    with profile.transaction(check) as transaction:
        transaction.update(facts, lambda _: [facts.row(Fact(id="a", text="t"))])

    assert len(asked) >= 3
    assert not any(asked)


def test_what_the_caller_raises_ends_the_change(profile: Profile, facts: Document[Fact]) -> None:
    add(profile, facts, "a")
    before = facts.path.read_bytes()
    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise RefusedError("the owner changed")

    with pytest.raises(RefusedError, match="the owner changed"), profile.transaction(check) as transaction:
        transaction.update(facts, lambda _: [])
    assert facts.path.read_bytes() == before
    assert not list(facts.path.parent.glob(".*"))


def test_ten_thousand_entries_are_the_limit_and_it_is_named(profile: Profile, facts: Document[Fact]) -> None:
    rows = [facts.row(Fact(id=str(number), text="t")) for number in range(10_001)]
    with profile.transaction() as transaction:
        transaction.update(facts, lambda _: rows[:-1])
        before = facts.path.read_bytes()
        with pytest.raises(CapacityError) as caught:
            transaction.update(facts, lambda _: rows)

    assert caught.value.details["limit"] == "10000 entries"
    assert facts.path.read_bytes() == before


def test_four_mebibytes_are_the_limit_and_it_is_named(profile: Profile, facts: Document[Fact]) -> None:
    with profile.transaction() as transaction, pytest.raises(CapacityError) as caught:
        transaction.update(facts, lambda _: [facts.row(Fact(id="a", text="x" * jsontext.MAX_BYTES))])

    assert caught.value.details["limit"] == "4194304 bytes"
    assert not facts.path.exists()


def test_a_model_whose_values_could_change_is_a_mistake() -> None:
    class Loose(BaseModel):
        id: str

    with pytest.raises(TypeError, match="frozen"):
        ModelCodec(Loose)


def test_one_file_is_one_kind_of_document(profile: Profile) -> None:
    class Other(BaseModel):
        model_config = ConfigDict(frozen=True)

        id: str

    assert profile.document("a.json", Fact) is profile.document("a.json", Fact)
    with pytest.raises(ValueError, match="another kind"):
        profile.document("a.json", Other)


@pytest.mark.parametrize("relative", ["/etc/passwd", "../up.json", "a//b.json", ".hidden/a.json", "a\\b.json", ""])
def test_a_document_stays_below_its_profile(profile: Profile, relative: str) -> None:
    with pytest.raises(InvalidError):
        profile.document(relative, Fact)


def test_a_row_that_could_not_be_read_again_is_refused(facts: Document[Fact]) -> None:
    with pytest.raises(InvalidError):
        facts.row(Fact(id="a", text="\ud800"))


def test_memory_changes_inside_a_transaction_only(profile: Profile, facts: Document[Fact]) -> None:
    with pytest.raises(LockOrderError):
        profile.update(facts, lambda _: [])


@pytest.mark.parametrize(("code", "kind"), [("EIO", UncertainError), ("ENOSPC", UncertainError)], ids=["EIO", "ENOSPC"])
def test_a_disk_that_does_not_confirm_leaves_it_uncertain(
    profile: Profile, facts: Document[Fact], monkeypatch: pytest.MonkeyPatch, code: str, kind: type[Exception]
) -> None:
    import errno  # noqa: PLC0415 - by name here only

    add(profile, facts, "a")
    renamed: list[str] = []
    rename, sync = os.rename, files.sync_descriptor

    def noting(source: str, target: str, **keywords: int) -> None:
        rename(source, target, **keywords)  # type: ignore[arg-type]
        renamed.append(target)

    def failing(descriptor: int) -> None:
        if "elite.json" in renamed:
            raise OSError(getattr(errno, code), "told")
        sync(descriptor)

    monkeypatch.setattr(os, "rename", noting)
    monkeypatch.setattr(files, "sync_descriptor", failing)
    with pytest.raises(kind) as caught, profile.transaction() as transaction:
        transaction.update(facts, lambda _: [])
    assert getattr(caught.value, "changed", None) == "unknown"


def test_a_read_only_directory_refuses_writes_and_serves_reads(profile: Profile, facts: Document[Fact]) -> None:
    if os.geteuid() == 0:
        pytest.skip("root writes everywhere")
    add(profile, facts, "a")
    facts.path.parent.chmod(0o500)
    try:
        with pytest.raises(StorageError):
            add(profile, facts, "b")
        assert [fact.id for fact in facts.read().values] == ["a"]
    finally:
        facts.path.parent.chmod(0o700)


def test_the_clock_going_back_does_not_send_the_sequence_back(agent_dir: Path) -> None:
    now = NOW
    profile = Profile(agent_dir / "persona-mind", lambda: now)
    facts = profile.document("memory/ltm/elite.json", Fact)
    add(profile, facts, "a")
    now -= timedelta(days=400)
    add(profile, facts, "b")

    assert facts.read().sequence == 2
    assert facts.read().updated_at == "2025-01-26T09:30:00.000Z"


def test_a_clock_that_jumps_does_not_move_the_end_of_a_wait(profile: Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    now = NOW
    impatient = Profile(profile.root, lambda: now)
    with profile.transaction():
        now += timedelta(days=3650)
        monkeypatch.setattr(time, "time", lambda: 0.0)
        began = time.monotonic()
        waited: list[BaseException] = []

        def wait() -> None:
            try:
                with impatient.transaction(timeout=0.05):
                    pass
            except BusyError as error:
                waited.append(error)

        import threading  # noqa: PLC0415 - here only

        thread = threading.Thread(target=wait)
        thread.start()
        thread.join(10)
    assert len(waited) == 1
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("version", ["2", "99", '"1"', '"2"'])
def test_a_newer_version_is_read_only_and_untouched(profile: Profile, facts: Document[Fact], version: str) -> None:
    data = whole('{"id": "a", "text": "x"}').replace(b'"version": 1', f'"version": {version}'.encode())
    lay(facts, data)

    with pytest.raises(UnsupportedVersionError):
        facts.read()
    with pytest.raises(UnsupportedVersionError):
        add(profile, facts, "b")
    assert sorted(path.name for path in facts.path.parent.iterdir()) == ["elite.json"]
    assert facts.path.read_bytes() == data


def test_an_unknown_field_of_the_envelope_is_a_newer_format_too(profile: Profile, facts: Document[Fact]) -> None:
    data = whole().replace(b'"sequence"', b'"compressed": true,\n  "sequence"')
    lay(facts, data)

    with pytest.raises(UnsupportedVersionError) as caught:
        add(profile, facts, "b")
    assert caught.value.reason == "unknown_field"
    assert facts.path.read_bytes() == data


def test_a_missing_file_with_a_newer_previous_version_is_not_taken_for_empty(
    profile: Profile, facts: Document[Fact]
) -> None:
    lay(facts, b"")
    facts.path.rename(facts.path.with_name("elite.json.bak"))
    facts.path.with_name("elite.json.bak").write_bytes(whole().replace(b'"version": 1', b'"version": 2'))

    with pytest.raises(UnsupportedVersionError):
        add(profile, facts, "a")


@pytest.mark.parametrize("stamp", [0, 4_000_000_000])
def test_file_times_mean_nothing(profile: Profile, facts: Document[Fact], stamp: int) -> None:
    add(profile, facts, "a")
    os.utime(facts.path, (stamp, stamp))
    add(profile, facts, "b")

    assert [fact.id for fact in facts.read().values] == ["a", "b"]


def test_an_error_names_the_file_and_no_text(facts: Document[Fact]) -> None:
    lay(facts, whole('{"id": "a", "text": "very private"}')[:-3])

    with pytest.raises(CorruptError) as caught:
        facts.read()
    assert str(facts.path) in str(caught.value)
    assert "very private" not in repr(caught.value.__dict__) + str(caught.value)
