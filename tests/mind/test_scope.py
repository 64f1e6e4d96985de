from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persona_hooks.errors import RefusedError
from persona_mind.kernel.scope import find_project, segment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.mind.conftest import Open

names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=100)


def hashed(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:12]


def safe(name: str) -> str | None:
    try:
        return segment(name)
    except RefusedError:
        return None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dev-ops", "dev-ops"),
        ("Elite", "Elite"),
        ("dev ops", f"dev-ops-{hashed('dev ops')}"),
        ("a/b c", f"a-b-c-{hashed('a/b c')}"),
        ("../escape", f"escape-{hashed('../escape')}"),
        ("_shared", f"persona-_shared-{hashed('_shared')}"),
        ("_Default", f"persona-_Default-{hashed('_Default')}"),
        ("NUL", f"persona-NUL-{hashed('NUL')}"),
        ("con.txt", f"persona-con.txt-{hashed('con.txt')}"),
        ("LPT9.data", f"persona-LPT9.data-{hashed('LPT9.data')}"),
        ("日本", f"persona-{hashed('日本')}"),
        ("x" * 65, f"{'x' * 64}-{hashed('x' * 65)}"),
        (None, "_default"),
    ],
)
def test_a_persona_has_one_file_name(name: str | None, expected: str) -> None:
    assert segment(name) == expected


def test_composed_and_decomposed_names_are_one_persona() -> None:
    assert segment("Ren\u00e9") == segment("Rene\u0301")


def test_a_name_that_would_share_the_file_of_a_hashed_one_is_refused() -> None:
    with pytest.raises(RefusedError) as caught:
        segment(segment("dev ops"))
    assert caught.value.reason == "shared_file_name"


@given(names)
def test_a_segment_is_a_plain_file_name(name: str) -> None:
    made = safe(name)
    assert made is None or re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,95}", made)


@given(names, names)
def test_two_names_never_share_a_file(one: str, other: str) -> None:
    if unicodedata.normalize("NFC", one) != unicodedata.normalize("NFC", other):
        assert safe(one) is None or safe(one) != safe(other)


def test_a_persona_whose_file_differs_only_in_capitals_is_refused(opened: Open) -> None:
    opened("Elite").remember("I am first")
    with pytest.raises(RefusedError) as caught:
        opened("elite").remember("I am second")
    assert caught.value.reason == "shared_file_name"


def test_the_project_is_the_nearest_directory_with_git(project: Path, home: Path) -> None:
    below = project / "src" / "deep"
    below.mkdir(parents=True)
    assert find_project(below, home) == find_project(project, home)
    assert find_project(below, home).root == project


def test_a_git_file_counts_as_git(tmp_path: Path, home: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / ".git").write_text("gitdir: elsewhere")
    assert find_project(tmp_path / "tree", home).root == tmp_path / "tree"


def test_without_git_the_working_directory_is_the_project(tmp_path: Path, home: Path) -> None:
    place = tmp_path / "plain" / "below"
    place.mkdir(parents=True)
    assert find_project(place, home).root == place


def test_git_in_the_home_directory_makes_no_project_of_the_folders_below(home: Path) -> None:
    (home / ".git").mkdir()
    below = home / "notes"
    below.mkdir()
    assert find_project(below, home).root == below
    assert find_project(home, home).home


def test_the_slug_is_the_name_and_a_hash_of_the_canonical_path(project: Path, home: Path) -> None:
    digest = hashlib.sha256(str(project).encode()).hexdigest()[:24]
    assert find_project(project, home).slug == f"rocket-{digest}"


def test_a_link_to_a_project_is_that_project(project: Path, home: Path) -> None:
    link = home / "link"
    link.symlink_to(project)
    assert find_project(link, home) == find_project(project, home)


def test_a_link_that_leads_elsewhere_since_is_the_other_project(opened: Open, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / ".git").mkdir(parents=True)
    link = tmp_path / "current"
    link.symlink_to(tmp_path / "one")
    opened(cwd=link).remember("The first of them listens on port 5433.", scope="project")

    link.unlink()
    link.symlink_to(tmp_path / "two")

    assert opened(cwd=link).recall("Which port?").count == 0
    assert opened(cwd=tmp_path / "one").recall("Which port?").count == 1


def test_a_repository_that_is_hidden_is_a_project_like_any_other(opened: Open, home: Path) -> None:
    hidden = home / ".dotfiles"
    (hidden / ".git").mkdir(parents=True)
    mind = opened(cwd=hidden)
    mind.remember("Shells start without a banner.", scope="project")
    assert mind.recall(scope="project").total == 1
    assert find_project(hidden, home).slug.startswith("dotfiles-")
