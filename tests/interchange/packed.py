"""Packs bundles by hand, whole ones and broken ones."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping

from lethe_app.domain.bundle import Bundle
from lethe_app.errors import FileError
from lethe_app.interchange.bundle_archive import LIMITS, BundleLimits
from lethe_app.interchange.bundles import BundleReader
from lethe_app.storage.files.json_files import parse_model

MANIFEST = {
    "format": "lethe-persona",
    "version": 1,
    "made_by": "Lethe 0.1.0",
    "made": "2026-03-03T10:00:00+00:00",
    "giver": "Sam",
    "name": "Mira",
    "unique_name": "mira",
}
PERSONA = {"name": "Mira", "tagline": "ship navigator"}
GUID = "00000000-0000-4000-8000-0000000000{:02}"


def png(width: int = 8, height: int = 8) -> bytes:
    """The beginning of one, which is all that is looked at."""
    size = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return b"\x89PNG\r\n\x1a\n" + (13).to_bytes(4, "big") + b"IHDR" + size + b"\x08\x02\x00\x00\x00" + b"\0" * 16


def members(**changed: object) -> dict[str, bytes]:
    """A whole bundle of a persona and nothing else; `changed` are fields of its manifest."""
    return {"manifest.json": packed({**MANIFEST, **changed}), "persona.json": packed(PERSONA)}


def packed(value: object) -> bytes:
    return json.dumps(value).encode()


def lines(*values: object) -> bytes:
    return b"".join(packed(value) + b"\n" for value in values)


def session(number: int = 1, **changed: object) -> dict[str, object]:
    return {"session": {"guid": GUID.format(number), "persona_id": "mira", **changed}}


def message(number: int, parent: int | None = None, **changed: object) -> dict[str, object]:
    above = GUID.format(parent) if parent is not None else None
    own = {"id": GUID.format(number), "session_id": GUID.format(1), "parent_id": above, "role": "user"}
    return {**own, "alternatives": [{"content": f"Line {number}."}], **changed}


def archive(content: Mapping[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, data in content.items():
            zipped.writestr(name, data)
    return made.getvalue()


def read(content: bytes | Mapping[str, bytes], limits: BundleLimits = LIMITS) -> Bundle:
    data = content if isinstance(content, bytes) else archive(content)
    return BundleReader(io.BytesIO(data), "Mira.lethe", parse_model, lambda _done: None, limits).read()


def refusal(content: bytes | Mapping[str, bytes], limits: BundleLimits = LIMITS) -> FileError:
    """What is said of a bundle that is not let in."""
    try:
        read(content, limits)
    except FileError as error:
        return error
    raise AssertionError("it was let in")
