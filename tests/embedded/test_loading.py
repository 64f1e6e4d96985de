"""Which plugins are found among what is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from persona_host.loading import entry_points

if TYPE_CHECKING:
    from pathlib import Path


def install(folder: Path, name: str, points: str | None, version: str = "1.0") -> None:
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    if points is not None:
        (info / "entry_points.txt").write_text(points)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two folders on the path, and nothing else."""
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    monkeypatch.setattr("sys.path", [str(first), str(second)])
    return first, second


def names() -> list[str]:
    return [name for name, _ in entry_points()]


def test_plugins_of_all_distributions_are_found_in_order_of_their_names(path: tuple[Path, Path]) -> None:
    first, second = path
    install(first, "zebra", "[persona_host]\nzebra = zebra:Plugin\n")
    install(second, "many", "[console_scripts]\nx = many:main\n\n[persona_host]\nb = many:B\na = many:A\n")
    install(second, "other", "[console_scripts]\npersona_host = other:main\n")
    install(second, "none", None)
    assert names() == ["a", "b", "zebra"]


def test_of_one_distribution_installed_twice_the_first_on_the_path_counts(path: tuple[Path, Path]) -> None:
    first, second = path
    install(first, "my-plugin", "[persona_host]\nnew = new:Plugin\n", "2.0")
    install(second, "My.Plugin", "[persona_host]\nold = old:Plugin\n")
    assert names() == ["new"]


def test_a_plugin_that_a_later_version_no_longer_has_is_not_found(path: tuple[Path, Path]) -> None:
    first, second = path
    install(first, "plugin", None, "2.0")
    install(second, "plugin", "[persona_host]\nold = old:Plugin\n")
    assert names() == []


def test_two_distributions_that_claim_one_name_are_both_listed(path: tuple[Path, Path]) -> None:
    first, second = path
    install(first, "one", "[persona_host]\nsame = one:Plugin\n")
    install(second, "two", "[persona_host]\nsame = two:Plugin\n")
    assert names() == ["same", "same"]
