"""Claude Code: a plugin folder in ``bundle/`` whose hooks run ``persona hook``. See docs/hosts.md."""

from __future__ import annotations
