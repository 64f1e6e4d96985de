"""Where text enters a memory and where it comes out: the only maker of ``Admitted`` and ``Shown``.

    admit(text, origin) -> Admitted | Refused | Quarantined
    show(text, origin)  -> Shown | Withheld

Refused are hidden Unicode outside its legitimate contexts, control characters, credentials, forged structure
and URLs that carry data away. Text that reads like a directive is judged by its origin: from the user it is a
preference, from the foreground model it is admitted and flagged, from a peer, a worker, a tool or an import it
is quarantined until a person approves it. The scanner is hygiene; origin, scope and audience are the boundary.

No value of this module shows a text in its ``repr``, its ``str`` or an error.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, NoReturn, TypeAlias, final

from persona_hooks.errors import RefusedError
from persona_store.hidden import concealed, first_hidden, visible
from persona_store.secrets_table import first_secret
from persona_store.structure import first_forgery

Origin: TypeAlias = Literal["user", "model", "import", "peer", "worker", "tool"]
Flag: TypeAlias = Literal["directive", "preference", "approved"]

MAX_CHARACTERS: Final = 8_192
"""The longest text that is read at all; nothing longer reaches a rule."""
