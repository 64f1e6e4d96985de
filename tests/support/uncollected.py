"""Loaded as a plugin where mutants run: nothing is collected but what nobody refers to any more.

mutmut sets a context variable around each function. CPython 3.11 does not survive that a finalizer, run by the
collector in the middle of setting one, sets one as well.
"""

import gc

gc.disable()
