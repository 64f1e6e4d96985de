"""How to get the optional parts of an installation."""

from __future__ import annotations

from pathlib import Path

import pytest

from persona_host import extras
from persona_host.adapters.installing import Target, install


def test_a_checkout_is_named_where_this_was_installed_from_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "_checkout", lambda: "/home/someone/my persona")
    assert extras.command("mcp").endswith("-m pip install --editable '/home/someone/my persona[mcp]'")
    monkeypatch.setattr(extras, "_checkout", lambda: None)
    assert extras.command("mcp").endswith("-m pip install 'persona-mind[mcp]'")


def test_this_very_installation_is_known() -> None:
    assert extras._checkout() in {None, str(Path(__file__).parents[2])}


@pytest.mark.parametrize("lacking", [True, False])
def test_installing_for_mcp_warns_where_it_could_not_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, lacking: bool
) -> None:
    monkeypatch.setattr(extras, "missing", lambda _: lacking)
    card = install("mcp", Target(tmp_path, {}, lambda: pytest.fail("no runtime is needed"))).card
    assert (card.level == "warning", "pip install" in card.hint) == (lacking, lacking)
