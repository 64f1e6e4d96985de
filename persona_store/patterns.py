"""Regular expressions that cost nothing until a text needs them.

Compiling all rules takes longer than starting the program; most texts wake a few of them only.
"""

from __future__ import annotations

import re
from functools import cached_property


class Pattern:
    """A regular expression, compiled at its first use.

    Args:
        source: The expression.
        flags: As ``re.compile`` takes them.
    """

    def __init__(self, source: str, flags: int = 0) -> None:
        self.source = source
        self._flags = flags

    @cached_property
    def re(self) -> re.Pattern[str]:
        """The compiled expression."""
        return re.compile(self.source, self._flags)
