"""No host that doctor knows is left out of the suite, and nothing that a host can lack is left without words."""

from __future__ import annotations

from persona_hooks.ports import Capabilities
from persona_host.hosts import COSTS, HOSTS
from tests.hosts.conformance.conftest import DRIVERS

SHELL = {"command-line"}
"""No host: one command is one process, and nobody talks."""


def test_every_host_has_a_driver() -> None:
    assert {driver.name for driver in DRIVERS} == HOSTS.keys() - SHELL


def test_every_capability_has_words_for_its_absence() -> None:
    assert COSTS.keys() == set(Capabilities._fields)
