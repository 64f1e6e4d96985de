"""The mind: durable, private memory bound to a persona.

As a plugin it is loaded by a host through ``persona_mind.plugin``. As a library it is opened here, without any host:

    import persona_mind

    with persona_mind.open("~/.pi/agent", cwd=".", persona="Ann") as mind:
        mind.remember("The staging database listens on port 5433.", tags=["staging"])
        for line in mind.recall("which port does staging use?").lines:
            print(line.excerpt)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from persona_mind.kernel.clock import Now
    from persona_mind.library import Mind

__all__ = ["open"]


def open(  # noqa: A001 - read as persona_mind.open
    agent_dir: str | os.PathLike[str],
    *,
    cwd: str | os.PathLike[str] = ".",
    persona: str | None = None,
    now: Now | None = None,
    home: str | os.PathLike[str] | None = None,
    environ: Mapping[str, str] | None = None,
    session_id: str = "library",
) -> Mind:
    """Open a memory and return it; nothing is created until something is remembered.

    Whoever opens it is its companion: ``persona`` is the owner, and no other plugin is asked.

    Args:
        agent_dir: Where everything is kept, such as ``~/.pi/agent``; memory stands in its ``persona-mind`` directory.
        cwd: Where the work is; the project is found from here.
        persona: Whose memory it is; None for the owner without a persona.
        now: The wall clock, aware; the system's without it.
        home: The home directory, which is no project; the user's without it.
        environ: ``PI_PERSONA_MIND_*`` variables to honour; none without it, so that a script does what it says.
        session_id: The name of the session that is opened.
    """
    # The entry point imports this package first, and a host that never opens the library should not pay for it.
    from persona_mind.library import Mind, system_clock  # noqa: PLC0415

    return Mind(
        agent_dir,
        cwd=cwd,
        persona=persona,
        now=now or system_clock,
        home=home,
        environ=environ or {},
        session_id=session_id,
    )
