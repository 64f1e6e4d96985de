"""The server's side of the socket: hooks of the same Claude Code are answered by the process that is running anyway.

Each session of Claude Code has a runtime of its own here, opened at its first hook. The socket lies in a directory that
only this user can enter, and whoever connects has to be this user and to be of the same mind about whose memory it is.
"""

from __future__ import annotations

import os
import socket
import stat
import sys
import threading
import time
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from persona_hooks.cards import one_line
from persona_hooks.errors import PersonaError
from persona_hooks.switches import is_set
from persona_host.adapters.claude_code import rendezvous
from persona_host.adapters.claude_code.conversation import LASTING, ClosedError, Conversation, Whose, encoded
from persona_host.adapters.claude_code.log import begun
from persona_host.adapters.claude_code.payload import parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from persona_host.adapters.claude_code.payload import Event
    from persona_host.loading import Found
    from persona_host.runtime import Runtime

    Adopt = Callable[[Callable[[], Runtime] | None], None]

MOST: Final = 8
"""Sessions that are kept open; the one that was used longest ago is closed for the next."""
CONNECTIONS: Final = 32
"""Hooks that are answered at once; the next one waits, and goes its own way when that takes too long."""
PAUSE: Final = 0.1
"""Seconds until the next try where the system has nothing left for another connection."""
SECONDS: Final = 2.0
"""How long a hook that has connected may take to say what it wants."""


class Desk:
    """The sessions that hooks asked for.

    Args:
        whose: Whose memory it is.
        plugins: Where plugins come from.
        adopt: Called with what returns the runtime of our own Claude Code's session, whenever that becomes another
            one, and with None when it ended.
    """

    def __init__(self, whose: Whose, plugins: Callable[[], Found], adopt: Adopt) -> None:
        self._whose = whose
        self._plugins = plugins
        self._adopt = adopt
        self._open: OrderedDict[str, Conversation] = OrderedDict()
        self._own: Conversation | None = None
        self._lock = threading.Lock()

    def answer(self, event: Event, *, own: bool) -> tuple[dict[str, object], Callable[[], None]]:
        """Return the JSON for an event, and what is to be done once it has been sent.

        Args:
            event: What happened.
            own: It happened in the Claude Code that started this server.
        """
        event = begun(event, self._whose.agent_dir)
        conversation = self._conversation(event, own=own)
        try:
            output = conversation.answer(event)
        except ClosedError:  # between the two lines above; what closed it may not have let go of it yet
            self._drop(event, conversation)
            return self.answer(event, own=own)
        if event.name == "SessionEnd":
            return output, lambda: self._end(event, conversation)
        return output, conversation.settle

    def close(self) -> None:
        """End every session."""
        with self._lock:
            conversations = list(self._open.values())
            self._open.clear()
        for conversation in conversations:
            conversation.close()

    def _conversation(self, event: Event, *, own: bool) -> Conversation:
        """Return the conversation that an event belongs to. It opens itself when it is used, outside of the lock."""
        with self._lock:
            key = _key(event)
            conversation = self._open.get(key)
            if conversation is None:
                conversation = self._open[key] = Conversation(
                    self._whose, event, capabilities=LASTING, plugins=self._plugins
                )
            self._open.move_to_end(key)
            changed = own and self._own is not conversation
            if changed:
                self._own = conversation
            oldest = self._evicted()
        if changed:
            self._adopt(conversation.current)
        if oldest is not None:
            self._leave(oldest)
        return conversation

    def _evicted(self) -> Conversation | None:
        """Take out the one to be closed, where there are too many: never our own Claude Code's, whose tools use it."""
        if len(self._open) <= MOST:
            return None
        key = next(key for key, conversation in self._open.items() if conversation is not self._own)
        return self._open.pop(key)

    def _end(self, event: Event, conversation: Conversation) -> None:
        conversation.settle()
        self._drop(event, conversation)
        self._leave(conversation)

    def _drop(self, event: Event, conversation: Conversation) -> None:
        with self._lock:
            if self._open.get(_key(event)) is conversation:
                del self._open[_key(event)]

    def _leave(self, conversation: Conversation) -> None:
        with self._lock:
            mine = self._own is conversation
            if mine:
                self._own = None
        if mine:
            self._adopt(None)
        conversation.close()


class Listener:
    """A socket at which hooks are answered, each connection on a thread of its own.

    Args:
        desk: What answers.
        whose: Whose memory it is.
    """

    def __init__(self, desk: Desk, whose: Whose) -> None:
        root = os.fspath(whose.agent_dir)
        self._desk = desk
        self._who = rendezvous.identity(root, whose.environ)
        self._folder = Path(rendezvous.folder(root))
        self._path = self._folder / rendezvous.name(self._who, os.getppid())
        self._socket: socket.socket | None = None
        self._slots = threading.BoundedSemaphore(CONNECTIONS)
        self._stopped = threading.Event()
        self._mine = 0
        self._made: list[Path] = []

    def start(self) -> bool:
        """Listen, on a daemon thread; return whether that is possible. Without it, hooks go their own way."""
        try:
            self._bind()
        except OSError:
            return False
        threading.Thread(target=self._accept, name="hooks", daemon=True).start()
        return True

    def stop(self) -> None:
        """Listen no more, and leave nothing behind."""
        self._stopped.set()
        if self._socket is not None:
            self._socket.close()
            with suppress(OSError):
                if self._path.stat().st_ino == self._mine:
                    self._path.unlink()
            with suppress(OSError):  # from the first one on that somebody has put something into, all are kept
                for made in self._made:
                    made.rmdir()

    def _bind(self) -> None:
        self._made = [path for path in (self._folder, *self._folder.parents) if not path.exists()]
        for path in reversed(self._made):
            path.mkdir(mode=0o700, exist_ok=True)
        found = self._folder.lstat()
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid():
            self._folder.chmod(0o700)
        if not rendezvous.is_ours(os.fspath(self._folder), stat.S_IFDIR):
            raise PermissionError
        for left in self._folder.glob(f"*{rendezvous.SUFFIX}"):
            _sweep(left)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # Renamed into place: a server that is just ending may still hold the name.
        fresh = self._path.with_suffix(".new")
        try:
            fresh.unlink(missing_ok=True)
            listening.bind(os.fspath(fresh))
            fresh.chmod(0o700)
            listening.listen(16)
            self._mine = fresh.stat().st_ino
            fresh.replace(self._path)
        except OSError:
            listening.close()
            raise
        self._socket = listening

    def _accept(self) -> None:
        assert self._socket is not None  # noqa: S101 - bound before the thread was started
        while not self._stopped.is_set():
            self._slots.acquire()
            try:
                link, _ = self._socket.accept()
            except OSError:
                self._slots.release()
                self._stopped.wait(PAUSE)
                continue
            try:
                threading.Thread(target=self._one, args=(link,), name="hook", daemon=True).start()
            except RuntimeError:  # no thread is to be had: whoever asked goes its own way
                link.close()
                self._slots.release()
                self._stopped.wait(PAUSE)

    def _one(self, link: socket.socket) -> None:
        try:
            self._serve(link)
        finally:
            self._slots.release()

    def _serve(self, link: socket.socket) -> None:
        with link:
            try:
                request = self._request(link)
            except OSError:
                return  # whoever asked has gone its own way, and nothing was begun
            if request is None:
                return
            out, err, after = self._answered(*request)
            with suppress(OSError):
                link.settimeout(SECONDS)
                rendezvous.send(link, out, err)
        try:
            after()
        except Exception as error:  # noqa: BLE001 - nobody waits for it; the kind is told, the text may quote a memory
            sys.stderr.write(f"persona: after a hook, something failed ({type(error).__name__}).\n")

    def _request(self, link: socket.socket) -> tuple[bytes, bytes] | None:
        """Return what a hook asks for, its head and its payload; None where it is not to be answered here."""
        deadline = time.monotonic() + SECONDS
        link.settimeout(SECONDS)
        if not rendezvous.same_user(link) or rendezvous.receive(link, deadline) != self._who:
            return None
        rendezvous.send(link, rendezvous.READY)
        return rendezvous.receive(link, deadline), rendezvous.receive(link, deadline)

    def _answered(self, head: bytes, payload: bytes) -> tuple[bytes, bytes, Callable[[], None]]:
        name, parent, project = [*head.decode("utf-8", "surrogateescape").split("\0"), "", ""][:3]
        try:
            event = parse(name, payload, project)
            output, after = self._desk.answer(event, own=parent == str(os.getppid()))
            return encoded(output), b"", after
        except PersonaError as error:
            return b"", f"{name}: {one_line(error.message)}".encode("utf-8", "backslashreplace"), _nothing
        except Exception as error:  # noqa: BLE001 - as in a hook of its own: the kind is told, the text may quote
            line = f"{name}: that failed ({type(error).__name__}). See `persona doctor`."
            return b"", line.encode("utf-8", "backslashreplace"), _nothing


class Listening:
    """Answers hooks for as long as it is entered; where there can be no socket it does nothing. See ``Desk``."""

    def __init__(self, whose: Whose, plugins: Callable[[], Found], adopt: Adopt) -> None:
        self._desk = Desk(whose, plugins, adopt)
        # With the companion off this process leaves no trace, and hooks have nothing to ask for.
        off = is_set(whose.environ.get("PI_PERSONA_DISABLE")) or os.name != "posix"
        self._listener = None if off else Listener(self._desk, whose)

    def __enter__(self) -> None:
        if self._listener is not None and not self._listener.start():
            self._listener = None

    def __exit__(self, *_: object) -> None:
        if self._listener is not None:
            self._listener.stop()
        self._desk.close()


def _key(event: Event) -> str:
    return f"{event.session_id}\0{event.cwd}"


def _nothing() -> None:
    return


def _sweep(path: Path) -> None:
    """Remove a socket at which nobody listens any more."""
    probe = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with probe:
        probe.settimeout(rendezvous.READY_SECONDS)
        try:
            probe.connect(os.fspath(path))
        except (ConnectionRefusedError, FileNotFoundError):
            with suppress(OSError):
                path.unlink()
        except OSError:
            return  # somebody listens there, slowly
