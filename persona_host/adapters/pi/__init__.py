"""Pi: a TypeScript extension in ``bundle/`` that translates, over ``persona stdio``. See docs/hosts.md."""

from __future__ import annotations
