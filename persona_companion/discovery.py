"""Finding personas: the person's own, and a trusted project's.

One broken brief never takes the others down: it becomes a fault with file and line. Names that could be taken for each
other, by people or by a file system, are all refused, since they would share a memory; a project's persona never
stands in for the person's own. Reading creates nothing and follows no link.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from persona_companion.briefreader import MAX_BRIEF_BYTES, Draft, claims, read_folder, read_markdown, with_prompt
from persona_companion.briefs import Brief, BriefOrigin
from persona_companion.faults import Fault, FaultError, readable
from persona_companion.names import canonical, likeness
from persona_hooks.errors import NotFoundError, RefusedError
from persona_hooks.speech import phrase
from persona_store.files import OversizeError, open_directory

if TYPE_CHECKING:
    from collections.abc import Iterator

BRIEF_FILE: Final = "brief.yml"
PROJECT_PARTS: Final = (".pi", "personas")
MAX_PERSONAS: Final = 200
"""How many folders and files of one place are looked at, in order of their names."""

_SHOWN_NAMES: Final = 12


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What was found.

    Attributes:
        briefs: The usable personas, in order of their names.
        faults: What cannot be used, or not as written.
        bystanders: What lies among the personas and does not say that it is one; perhaps it was meant to.
        folder: The person's own folder, whether it exists or not.
        untrusted: The project's folder, where there is one that is not read because the project is not trusted.
    """

    briefs: tuple[Brief, ...]
    faults: tuple[Fault, ...]
    folder: Path
    untrusted: Path | None = None
    bystanders: tuple[Fault, ...] = ()

    def find(self, name: str) -> Brief:
        """Return the persona called ``name``.

        Raises:
            NotFoundError: There is none to use. The message says why, and which there are; it never picks another.
        """
        wanted = canonical(name)
        found = next((brief for brief in self.briefs if brief.name == wanted), None)
        if found is not None:
            return found
        known = [brief.name for brief in self.briefs]
        fault = next((fault for fault in self.faults if fault.fatal and wanted in fault.names), None)
        if fault is not None:
            raise NotFoundError(
                phrase("That persona cannot be used: {fault}.", fault=fault.text), reason="broken_persona", known=known
            )
        raise NotFoundError(
            self._unknown(wanted, known),
            reason="unknown_persona",
            known=known,
        )

    def _unknown(self, wanted: str, names: list[str]) -> str:
        alike = [name for name in names if name.casefold() == wanted.casefold()]
        if alike:
            return phrase("There is no persona of that name; capitals count, and there is {name}.", name=alike[0])
        known = ", ".join(names[:_SHOWN_NAMES])
        said = phrase("There is no persona of that name. There are: {known}.", known=known)
        if not names:
            said = phrase(
                "There is no persona of that name. There are none yet; they live in {folder}.",
                folder=readable(self.folder),
            )
            if any(fault.fatal for fault in self.faults):
                said = phrase(
                    "There is no persona of that name, and none can be used here: `/persona doctor` says why."
                )
        elif len(names) > _SHOWN_NAMES:
            more = len(names) - _SHOWN_NAMES
            said = phrase(
                "There is no persona of that name. There are: {known} and {more} more.", known=known, more=more
            )
        if not self.untrusted:
            return said
        trust = phrase("The project has personas of its own, which are used once you trust it.")
        return phrase("{said} {more}", said=said, more=trust)


def discover(agent_dir: Path, cwd: Path, home: Path, *, trusted: bool) -> Catalogue:
    """Return the personas of a session that works in ``cwd``. Creates nothing and raises nothing."""
    folder = agent_dir / "persona" / "personas"
    found = [*_read(agent_dir, ("persona", "personas"), "user")]
    root = project_root(cwd, home)
    project = None if root is None else root.joinpath(*PROJECT_PARTS)
    untrusted = None
    if root is not None and project is not None:
        if trusted:
            found += _read(root, PROJECT_PARTS, "project")
        elif os.path.isdir(project):  # noqa: PTH112 - Path.is_dir raises where a directory may not be entered
            untrusted = project
    briefs, clashes = _apart([item for item in found if isinstance(item, Brief)])
    faults = [item for item in found if isinstance(item, Fault) and item.fatal]
    bystanders = tuple(item for item in found if isinstance(item, Fault) and not item.fatal)
    warnings = [fault for brief in briefs for fault in brief.warnings]
    return Catalogue(tuple(briefs), (*faults, *clashes, *warnings), folder, untrusted, bystanders)


def project_root(cwd: Path, home: Path) -> Path | None:
    """Return the nearest directory from ``cwd`` upwards that holds ``.git``, else ``cwd``; None for the home."""
    real, real_home = Path(os.path.realpath(cwd)), Path(os.path.realpath(home))
    for directory in (real, *real.parents):
        if directory != real_home and os.path.exists(directory / ".git"):  # noqa: PTH110 - as above
            return directory
    return None if real == real_home else real


def _read(root: Path, parts: tuple[str, ...], origin: BriefOrigin) -> Iterator[Brief | Fault]:
    path = root.joinpath(*parts)
    try:
        with open_directory(root, parts):
            candidates = list(_candidates(path))
    except FileNotFoundError:
        return
    except RefusedError as error:
        yield Fault(path, error.message)
        return
    except OSError as error:
        yield Fault(path, phrase("it cannot be read ({error})", error=error.strerror))
        return
    for name, is_folder in candidates[:MAX_PERSONAS]:
        try:
            found = _folder(root, (*parts, name), origin) if is_folder else _markdown(root, parts, name, origin)
        except FaultError as error:
            yield error.fault.about(canonical(name.removesuffix(".md")))
        except (ValueError, OSError) as error:
            # What the system or a parser cannot take in one brief must not close the memory of all others.
            fault = Fault(path / name, phrase("it cannot be read ({error})", error=type(error).__name__))
            yield fault.about(canonical(name.removesuffix(".md")))
        else:
            if found is not None:
                yield found
    if len(candidates) > MAX_PERSONAS:
        last = readable(candidates[MAX_PERSONAS - 1][0])
        yield Fault(
            path,
            phrase(
                "it holds more than {limit} personas; those after {last} are left out", limit=MAX_PERSONAS, last=last
            ),
        )


def _candidates(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield what may be a persona: its name, and whether it is a folder. Links are among them, to be refused."""
    with os.scandir(path) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            is_markdown = entry.name.endswith(".md")
            if not entry.name.startswith(".") and (is_markdown or entry.is_dir()):
                yield entry.name, not is_markdown


def _folder(root: Path, parts: tuple[str, ...], origin: BriefOrigin) -> Brief:
    path = root.joinpath(*parts)
    data = _bytes(root, parts, BRIEF_FILE)
    if data is None:
        raise FaultError(Fault(path, phrase("it is no persona: it holds no {file}", file=BRIEF_FILE), fatal=False))
    if os.path.lexists(path / "brief.yaml"):
        raise FaultError(Fault(path, phrase("it holds both {file} and brief.yaml; keep one", file=BRIEF_FILE)))
    draft: Draft = read_folder(path / BRIEF_FILE, data, origin)
    if draft.prompt_file is None:
        return draft.brief
    *inner, name = draft.prompt_file
    prompt = _bytes(root, (*parts, *inner), name)
    if prompt is None:
        raise FaultError(
            Fault(path / BRIEF_FILE, phrase("promptFile: there is no such file"), draft.line, "promptFile")
        )
    return with_prompt(draft, path.joinpath(*draft.prompt_file), prompt)


def _markdown(root: Path, parts: tuple[str, ...], name: str, origin: BriefOrigin) -> Brief | None:
    data = _bytes(root, parts, name)
    if data is None:
        return None
    path = root.joinpath(*parts, name)
    if not claims(data):
        raise FaultError(
            Fault(path, phrase("it is no persona: its front matter has no line `persona: true`"), fatal=False)
        )
    return read_markdown(path, data, origin)


def _bytes(root: Path, parts: tuple[str, ...], name: str) -> bytes | None:
    """Return a file's bytes, or None where there is no such file."""
    path = root.joinpath(*parts, name)
    try:
        with open_directory(root, parts) as directory:
            return directory.read(name, MAX_BRIEF_BYTES)[0]
    except FileNotFoundError:
        return None
    except OversizeError:
        raise FaultError(Fault(path, phrase("it is larger than {limit} KiB", limit=MAX_BRIEF_BYTES // 1024))) from None
    except RefusedError as error:
        raise FaultError(Fault(path, error.message)) from None
    except OSError as error:
        raise FaultError(Fault(path, phrase("it cannot be read ({error})", error=error.strerror))) from None


def _apart(briefs: list[Brief]) -> tuple[list[Brief], list[Fault]]:
    """Return the briefs whose names nobody can take for another's, and the faults of the others."""
    groups: dict[str, list[Brief]] = {}
    for brief in briefs:
        groups.setdefault(likeness(brief.name), []).append(brief)
    usable: list[Brief] = []
    faults: list[Fault] = []
    for group in groups.values():
        own = [brief for brief in group if brief.origin == "user"]
        rivals = own or group
        if len(rivals) == 1:
            usable += rivals
        else:
            faults += [_clash(brief, next(b for b in rivals if b is not brief)) for brief in rivals]
        if own:
            faults += [_shadow(brief, own[0]) for brief in group if brief.origin == "project"]
    return sorted(usable, key=lambda brief: brief.name), faults


def _clash(brief: Brief, other: Brief) -> Fault:
    where = f"{readable('/'.join(other.path.parts[-2:]))}:{other.line}"
    what = phrase("neither can be used: {where} has the same name; rename one", where=where)
    if other.name != brief.name:
        what = phrase(
            "neither can be used: {where} has a name too like it, {name}; rename one", where=where, name=other.name
        )
    return Fault(brief.path, what, brief.line, "name").about(brief.name)


def _shadow(brief: Brief, own: Brief) -> Fault:
    message = phrase("a project's persona may not pass for your own {name}; it is left out", name=own.name)
    # Not about a name: the person's own persona of that name stays usable.
    return Fault(brief.path, message, brief.line, "name")
