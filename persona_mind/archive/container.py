"""The archive as bytes: a ZIP of documents with a manifest.

It is a ZIP, not one JSON file, because faculties to come have parts that are no text, and because one damaged member
then costs only itself. Members are stored, not compressed, with fixed dates and in order of their names: the same
memory gives the same bytes on every machine, whatever its compression library.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from persona_hooks.errors import UNCHANGED, CapacityError, CorruptError, UnsupportedVersionError
from persona_hooks.naming import to_camel
from persona_hooks.speech import phrase
from persona_mind.kernel.parts import Leaf
from persona_store import jsontext

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FORMAT: Final = "persona-mind-archive"
VERSION: Final = 1
MANIFEST: Final = "manifest.json"
MAX_BYTES: Final = 256 * 1024 * 1024
"""Of a whole archive."""
_DATE: Final = (1980, 1, 1, 0, 0, 0)
"""The earliest that a ZIP can say."""


class Member(BaseModel):
    """What the manifest says of one file."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", defer_build=True)

    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    entries: Annotated[int, Field(ge=0)]


class Manifest(BaseModel):
    """What an archive says of itself.

    Attributes:
        persona: The name of the persona it was made for; None for none, and where it holds everything.
        segment: The same as it stands on rows.
        everything: It holds all personas and projects, each under its own name.
        parts: The version of each part's rows.
    """

    model_config = ConfigDict(
        frozen=True, strict=True, extra="ignore", alias_generator=to_camel, populate_by_name=True, defer_build=True
    )

    format: Literal["persona-mind-archive"]
    version: int
    persona: str | None = None
    segment: str | None = None
    everything: bool
    parts: dict[str, int]
    files: dict[str, Member]


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive that was opened; its files are not read yet."""

    manifest: Manifest
    data: Mapping[str, bytes]

    def leaf(self, name: str) -> Leaf:
        """Return one file of it.

        Raises:
            CorruptError: It is missing, or not what the manifest says.
        """
        data = self.data.get(name)
        if data is None or hashlib.sha256(data).hexdigest() != self.manifest.files[name].sha256:
            raise CorruptError(phrase("it is missing or damaged"), reason="archive_file")
        try:
            envelope = jsontext.split(data)
        except jsontext.DamageError as error:
            raise CorruptError(
                phrase("it is no document ({reason})", reason=error.reason), reason="archive_file"
            ) from None
        return Leaf(name, tuple(envelope.rows), envelope.updated_at, envelope.sequence)


def packed(leaves: Sequence[Leaf], head: Mapping[str, Any]) -> bytes:
    """Return the bytes of an archive.

    Args:
        leaves: Its files.
        head: The manifest's fields but format, version and files.

    Raises:
        CapacityError: It would be larger than 256 MiB.
    """
    files = {leaf.name: jsontext.join(leaf.updated_at, leaf.sequence, leaf.rows) for leaf in leaves}
    if sum(map(len, files.values())) > MAX_BYTES:
        raise CapacityError(
            phrase("The archive would exceed {limit} MiB.", limit=MAX_BYTES >> 20), limit=f"{MAX_BYTES} bytes"
        )
    members = {
        leaf.name: {"sha256": hashlib.sha256(files[leaf.name]).hexdigest(), "entries": len(leaf.rows)}
        for leaf in leaves
    }
    manifest = {"format": FORMAT, "version": VERSION, **head, "files": dict(sorted(members.items()))}
    files[MANIFEST] = (json.dumps(manifest, ensure_ascii=False, indent=2) + "\n").encode()
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files, key=lambda name: (name != MANIFEST, name)):
            info = zipfile.ZipInfo(name, _DATE)
            info.create_system = 3
            info.external_attr = 0o100600 << 16
            archive.writestr(info, files[name])
    return target.getvalue()


def opened(data: Mapping[str, bytes]) -> Archive:
    """Return the archive that some files make up.

    Raises:
        CorruptError: The manifest is none.
        UnsupportedVersionError: A newer release wrote it.
    """
    try:
        manifest = Manifest.model_validate_json(data[MANIFEST])
    except (KeyError, ValidationError):
        raise CorruptError(phrase("the archive's manifest is missing or damaged"), reason="archive_manifest") from None
    if manifest.version > VERSION:
        raise UnsupportedVersionError(
            phrase("the archive was written by a newer release; upgrade, {unchanged}", unchanged=UNCHANGED),
            found=manifest.version,
        )
    return Archive(manifest, data)


def is_manifest(data: bytes) -> bool:
    """Return whether a file is the manifest of an archive of ours, of whatever version."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("format") == FORMAT
