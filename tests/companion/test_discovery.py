from __future__ import annotations

import os
from pathlib import Path

import pytest

from persona_companion import discovery
from persona_companion.discovery import Catalogue, discover, project_root
from persona_hooks.errors import NotFoundError
from tests.support.desk import files_below, write_brief


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "work" / "site"
    (root / ".git").mkdir(parents=True)
    return root


def found(agent_dir: Path, home: Path, cwd: Path | None = None, *, trusted: bool = False) -> Catalogue:
    return discover(agent_dir, cwd or home, home, trusted=trusted)


def names(catalogue: Catalogue) -> list[str]:
    return [brief.name for brief in catalogue.briefs]


def complaints(catalogue: Catalogue) -> list[str]:
    return [fault.text for fault in catalogue.faults]


def test_folders_and_markdown_files_are_personas_and_everything_else_is_left_alone(
    agent_dir: Path, home: Path, personas: Path
) -> None:
    write_brief(personas, "kiri")
    (personas / "ada.md").write_text("---\nname: ada\npersona: true\n---\nBe exact.\n")
    (personas / "README.md").write_text("# How to write personas\n")
    (personas / "notes.txt").write_text("---\nname: x\npersona: true\n---\n")
    (personas / "templates").mkdir()
    write_brief(personas, ".draft")
    before = files_below(home)
    catalogue = found(agent_dir, home)
    assert (names(catalogue), catalogue.faults) == (["ada", "kiri"], ())
    assert files_below(home) == before


def test_without_an_agent_directory_there_are_no_personas_and_nothing_is_made(agent_dir: Path, home: Path) -> None:
    catalogue = found(agent_dir, home)
    assert (catalogue.briefs, catalogue.faults, files_below(home)) == ((), (), [])


def test_a_broken_brief_is_named_with_file_and_line_and_takes_nobody_down(
    agent_dir: Path, home: Path, personas: Path
) -> None:
    write_brief(personas, "kiri")
    write_brief(personas, "bad", "prompt: [\n")
    (personas / "worse.md").write_text("---\npersona: true\nname: worse\n")
    catalogue = found(agent_dir, home)
    assert names(catalogue) == ["kiri"]
    assert [text.split(": ")[0] for text in complaints(catalogue)] == [
        "personas/bad/brief.yml:3",
        "persona/personas/worse.md:1",
    ]


def test_asking_for_a_broken_persona_says_what_is_wrong_with_it(agent_dir: Path, home: Path, personas: Path) -> None:
    write_brief(personas, "bad", "prompt: [\n")
    with pytest.raises(NotFoundError, match=r"bad/brief\.yml:3") as caught:
        found(agent_dir, home).find("bad")
    assert caught.value.reason == "broken_persona"


def test_an_unknown_persona_is_never_replaced_and_its_name_not_repeated(
    agent_dir: Path, home: Path, personas: Path
) -> None:
    write_brief(personas, "kiri")
    with pytest.raises(NotFoundError, match="There are: kiri") as caught:
        found(agent_dir, home).find("AKIAIOSFODNN7EXAMPLE")
    assert "AKIA" not in str(caught.value)
    with pytest.raises(NotFoundError, match="capitals count, and there is kiri"):
        found(agent_dir, home).find("KIRI")


def test_a_name_that_two_briefs_claim_belongs_to_neither(agent_dir: Path, home: Path, personas: Path) -> None:
    write_brief(personas, "kiri")
    (personas / "other.md").write_text("---\npersona: true\nname: kiri\n---\nx\n")
    write_brief(personas, "ada")
    catalogue = found(agent_dir, home)
    assert names(catalogue) == ["ada"]
    first, second = complaints(catalogue)
    assert first.startswith("personas/kiri/brief.yml:1: neither can be used: personas/other.md:3 has the same name")
    assert second.startswith("persona/personas/other.md:3: neither can be used: kiri/brief.yml:1 has the same name")
    with pytest.raises(NotFoundError, match="neither can be used"):
        catalogue.find("kiri")


@pytest.mark.parametrize(
    ("one", "two"),
    [("ann", "Ann"), ("cat", "ca\u0442"), ("paypal", "\u0440\u0430\u0443\u0440\u0430l"), ("Jose", "José")],
)
def test_names_that_could_share_a_memory_are_both_refused(
    agent_dir: Path, home: Path, personas: Path, one: str, two: str
) -> None:
    (personas / "1.md").write_text(f"---\npersona: true\nname: {one}\n---\nx\n", encoding="utf-8")
    (personas / "2.md").write_text(f"---\npersona: true\nname: {two}\n---\nx\n", encoding="utf-8")
    catalogue = found(agent_dir, home)
    assert two not in names(catalogue)
    assert catalogue.faults


def test_one_name_in_two_unicode_forms_is_one_name(agent_dir: Path, home: Path, personas: Path) -> None:
    for number, name in enumerate(("Jos\u00e9", "Jose\u0301")):
        (personas / f"{number}.md").write_text(f"---\npersona: true\nname: {name}\n---\nx\n", encoding="utf-8")
    assert names(found(agent_dir, home)) == []
    (personas / "0.md").unlink()
    assert found(agent_dir, home).find("Jose\u0301").name == "Jos\u00e9"


def test_a_project_s_personas_need_its_trust(agent_dir: Path, home: Path, project: Path) -> None:
    write_brief(project / ".pi" / "personas", "docs")
    inside = project / "src" / "deep"
    inside.mkdir(parents=True)
    distrusted = found(agent_dir, home, inside)
    assert (names(distrusted), distrusted.untrusted) == ([], project / ".pi" / "personas")
    trusted = found(agent_dir, home, inside, trusted=True)
    assert [(brief.name, brief.origin) for brief in trusted.briefs] == [("docs", "project")]
    assert trusted.untrusted is None


@pytest.mark.parametrize("claimed", ["kiri", "Kiri", "k\u0456r\u0456"])
def test_a_project_s_persona_never_stands_in_for_the_person_s_own(
    agent_dir: Path, home: Path, personas: Path, project: Path, claimed: str
) -> None:
    write_brief(personas, "kiri", "prompt: Mine.\n")
    write_brief(project / ".pi" / "personas", claimed, "prompt: Theirs.\n")
    catalogue = found(agent_dir, home, project, trusted=True)
    assert catalogue.find("kiri").prompt == "Mine."
    assert len(catalogue.briefs) == 1
    assert "site" not in catalogue.find("kiri").path.parts
    assert any("may not pass for your own" in text or "refused" in text for text in complaints(catalogue))


def test_the_project_is_the_nearest_repository_and_never_the_home(tmp_path: Path, home: Path, project: Path) -> None:
    (home / ".git").mkdir()
    plain = home / "notes"
    plain.mkdir()
    worktree = project / "tree"
    worktree.mkdir()
    (worktree / ".git").write_text("gitdir: elsewhere\n")
    assert project_root(project / "missing" / "below", home) == project
    assert project_root(worktree, home) == worktree
    assert project_root(plain, home) == plain
    assert project_root(home, home) is None
    assert project_root(tmp_path, home) == tmp_path


def test_no_link_is_followed(agent_dir: Path, home: Path, personas: Path, project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    write_brief(outside, "spy")
    (outside / "spy.md").write_text("---\npersona: true\nname: spy\n---\nx\n")
    (personas / "spy").symlink_to(outside / "spy")
    (personas / "spy.md").symlink_to(outside / "spy.md")
    write_brief(personas, "reader", "promptFile: prompt.md\n")
    (personas / "reader" / "prompt.md").symlink_to(outside / "spy.md")
    (project / ".pi").mkdir()
    (project / ".pi" / "personas").symlink_to(outside)
    catalogue = found(agent_dir, home, project, trusted=True)
    assert names(catalogue) == []
    assert len(catalogue.faults) == 4
    assert all("link" in text for text in complaints(catalogue))


def test_a_prompt_file_is_read_from_inside_the_folder(agent_dir: Path, home: Path, personas: Path) -> None:
    path = write_brief(personas, "kiri", "promptFile: text/prompt.md\n")
    assert "no such file" in complaints(found(agent_dir, home))[0]
    (path.parent / "text").mkdir()
    (path.parent / "text" / "prompt.md").write_text("\nYou are Kiri.\n")
    assert found(agent_dir, home).find("kiri").prompt == "You are Kiri."


@pytest.mark.parametrize("size", [64 * 1024 + 1])
def test_an_oversized_brief_is_not_read(agent_dir: Path, home: Path, personas: Path, size: int) -> None:
    write_brief(personas, "huge", "x: " + "y" * size)
    assert "larger than 64 KiB" in complaints(found(agent_dir, home))[0]


def test_what_is_no_file_is_refused_without_waiting(agent_dir: Path, home: Path, personas: Path) -> None:
    (personas / "pipe").mkdir()
    os.mkfifo(personas / "pipe" / "brief.yml")
    (personas / "dir" / "brief.yml").mkdir(parents=True)
    os.mkfifo(personas / "pipe.md")
    assert len(found(agent_dir, home).faults) == 3


def test_two_spellings_of_the_brief_s_file_are_an_error(agent_dir: Path, home: Path, personas: Path) -> None:
    path = write_brief(personas, "kiri")
    path.with_suffix(".yaml").write_text("name: kiri\n")
    assert "keep one" in complaints(found(agent_dir, home))[0]


def test_names_of_files_that_are_no_text_can_be_printed(agent_dir: Path, home: Path, personas: Path) -> None:
    raw = os.fsencode(personas) + b"/b\xffd"
    os.mkdir(raw)  # noqa: PTH102 - a name that no Path can spell
    Path(os.fsdecode(raw), "brief.yml").write_text("name: [\n")
    (text,) = complaints(found(agent_dir, home))
    assert text.encode("utf-8").startswith(b"personas/b\\xffd/brief.yml:2: ")


def test_more_personas_than_the_cap_are_named(
    agent_dir: Path, home: Path, personas: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "MAX_PERSONAS", 2)
    for name in ("a1", "b2", "c3"):
        write_brief(personas, name)
    catalogue = found(agent_dir, home)
    assert names(catalogue) == ["a1", "b2"]
    assert "more than 2 personas; those after b2 are left out" in complaints(catalogue)[0]
