"""Named injuries to the shipped code, each of which some named test must notice.

A mutant is a patch of the source text: were the text to change, the patch would not apply and its test would say so.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import persona_store

if TYPE_CHECKING:
    from types import CodeType


@dataclass(frozen=True)
class Mutant:
    """One patch: in ``module``, the text ``old`` becomes ``new``; ``caught_by`` names the check that must notice."""

    name: str
    caught_by: str
    module: str
    old: str
    new: str
    also: tuple[str, str] | None = None


MUTANTS = (
    Mutant(
        "no fsync",
        "power_loss",
        "commit",
        "        files.sync_descriptor(descriptor)\n",
        "",
    ),
    Mutant(
        "no directory fsync",
        "power_loss",
        "commit",
        "        directory.sync()\n",
        "        directory.names()\n",
    ),
    Mutant(
        "rename before fsync",
        "power_loss",
        "commit",
        "        files.sync_descriptor(descriptor)\n        if ancestors",
        "        if ancestors",
        ("        renamed = True\n", "        renamed = True\n        files.sync_descriptor(descriptor)\n"),
    ),
    Mutant(
        "in place",
        "killed",
        "commit",
        "        directory.rename(temporary, name)\n        renamed = True\n",
        "        live = os.open(directory.path / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)\n"
        "        files.write_all(live, *pieces)\n"
        "        os.fsync(live)\n        directory.unlink(temporary)\n        renamed = True\n",
    ),
    Mutant(
        "early acknowledgement",
        "refused",
        "commit",
        "    except OSError as error:\n        raise UncertainError(",
        "    except OSError as error:\n        return\n        raise UncertainError(",
    ),
    Mutant(
        "swallowed ENOSPC",
        "refused",
        "files",
        "        written = _write_some(descriptor, left)\n",
        "        try:\n            written = _write_some(descriptor, left)\n"
        "        except OSError:\n            return\n",
    ),
    Mutant(
        "no lock",
        "contended",
        "native_lock",
        "            if lock_descriptor(descriptor, blocking=False):\n",
        "            if True:\n",
    ),
    Mutant(
        "read outside the lock",
        "contended",
        "document",
        "        if cached is not None and cached.settled and cached.stamp == stamp:\n",
        "        if cached is not None:\n",
    ),
    Mutant(
        "fixed temporary name",
        "fresh_names",
        "files",
        '    return f".{base}.{label}-{secrets.token_hex(16)}"',
        "    return f\".{base}.{label}-{'0' * 32}\"",
    ),
    Mutant(
        "refuse a malformed holder",
        "power_loss",
        "locks",
        '        if verdict in {"foreign", "alive"}:',
        '        if verdict in {"foreign", "alive", "malformed"}:',
    ),
    Mutant(
        "short write",
        "cut_short",
        "files",
        "        while left and written >= len(left[0]):\n",
        "        return\n        while left and written >= len(left[0]):\n",
    ),
    Mutant(
        "keep the damaged version",
        "repaired",
        "transaction",
        "            keep=document.backup_name if snapshot.exists else None,",
        "            keep=document.backup_name,",
    ),
    Mutant(
        "no quarantine",
        "repaired",
        "recovery",
        "            quarantine(directory, document.name)\n",
        "            pass\n",
    ),
    Mutant(
        "follow links",
        "hostile_links",
        "files",
        "_READ: Final = os.O_RDONLY | _NOFOLLOW |",
        "_READ: Final = os.O_RDONLY |",
        (
            "status = os.stat(self._at(name), dir_fd=self._fd, follow_symlinks=False)",
            "status = os.stat(self._at(name), dir_fd=self._fd)",
        ),
    ),
    Mutant("no sweep", "killed", "commit", "            directory.unlink(loose)\n", "            pass\n"),
    Mutant("readable by others", "killed", "files", "FILE_MODE: Final = 0o600", "FILE_MODE: Final = 0o644"),
    Mutant(
        "no durable ancestors",
        "power_loss",
        "commit",
        "            files.sync_ancestors(*ancestors)\n",
        "            pass\n",
    ),
    Mutant(
        "no durable way to the root",
        "power_loss_from_nothing",
        "files",
        "            _sync_above(path)\n",
        "            pass\n",
    ),
    Mutant(
        "way to the root durable up to the agent directory",
        "power_loss_from_nothing",
        "files",
        "    for directory in root.parents:\n",
        "    for directory in root.parents[:1]:\n",
    ),
    Mutant(
        "ancestors after the rename",
        "power_loss_after_a_break",
        "commit",
        "            files.sync_ancestors(*ancestors)\n        settle()\n",
        "            pass\n        settle()\n",
        (
            "        _confirm(directory, name)\n",
            "        _confirm(directory, name)\n        ancestors and files.sync_ancestors(*ancestors)\n",
        ),
    ),
    Mutant(
        "sequence goes back",
        "repaired",
        "transaction",
        "        sequence = max(sequence, torn + 1, int(now.timestamp() * 1000))\n",
        "        pass\n",
    ),
    Mutant(
        "no look before the rename",
        "edited_meanwhile",
        "transaction",
        "            if not document.is_current(directory, snapshot):\n",
        "            if False:\n",
    ),
    Mutant(
        "fsync again after a failure",
        "refused",
        "files",
        "    os.fsync(descriptor)\n",
        "    try:\n        os.fsync(descriptor)\n    except OSError:\n        os.fsync(descriptor)\n",
    ),
)


class _Patching(importlib.machinery.SourceFileLoader):
    """Loads one module with its text patched, past any compiled copy."""

    def __init__(self, mutant: Mutant, name: str, path: str) -> None:
        super().__init__(name, path)
        self._mutant = mutant

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        source = Path(path).read_text("utf-8")
        for old, new in filter(None, ((self._mutant.old, self._mutant.new), self._mutant.also)):
            if source.count(old) != 1:
                raise AssertionError(f"{self._mutant.name!r} does not apply: {source.count(old)} times there")
            source = source.replace(old, new)
        return compile(source, path, "exec")


def apply(mutant: Mutant) -> None:
    """Load the engine anew with the patch, for the rest of this process's life; call it in a child only."""
    stale = ("persona_store", "tests.support.crash")
    for name in [name for name in sys.modules if name.startswith(stale)]:
        del sys.modules[name]
    name = f"persona_store.{mutant.module}"
    path = str(Path(persona_store.__file__).with_name(f"{mutant.module}.py"))
    spec = importlib.util.spec_from_file_location(name, path, loader=_Patching(mutant, name, path))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    importlib.import_module("persona_store")
    sys.modules[name] = module
    spec.loader.exec_module(module)
