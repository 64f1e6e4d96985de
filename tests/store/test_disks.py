"""Disks that are full, limited or read-only refuse; they do not lose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.crash import disks

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.timeout(180)


@pytest.mark.parametrize("check", disks.WITHOUT_ROOT, ids=lambda check: check.__name__)
def test_a_limit_refuses_and_loses_nothing(check: Callable[[], tuple[int, list[str]]]) -> None:
    points, found = check()

    assert found == []
    assert points > 0


@pytest.mark.skipif(not disks.can_mount(), reason="only root on Linux can mount file systems")
@pytest.mark.parametrize("check", disks.WITH_ROOT, ids=lambda check: check.__name__)
def test_a_disk_refuses_and_loses_nothing(check: Callable[[], tuple[int, list[str]]]) -> None:
    points, found = check()

    assert found == []
    assert points > 0
