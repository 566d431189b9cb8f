"""ZIP archive of a bundle: reads untrusted archives without relying on any name or size they declare.

Nothing is extracted to disk. A member is read in pieces, and never further than its limit, whatever size it declares.
"""

from __future__ import annotations

import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from lethe_app.errors import FileError

MANIFEST, PERSONA = "manifest.json", "persona.json"
MEMORIES, FACTS, FORGOTTEN, PERSONA_RECORDS = "memories.jsonl", "facts.jsonl", "forgotten.jsonl", "habits.json"
MIND, NOTEBOOK_INDEX = "mind.json", "notebooks/index.txt"
_STEM = r"[^/\\:\0.][^/\\:\0]{0,199}"
_FIXED_NAMES = (MANIFEST, PERSONA, MEMORIES, FACTS, FORGOTTEN, PERSONA_RECORDS, MIND, NOTEBOOK_INDEX)
NAMES = re.compile(
    rf"{'|'.join(map(re.escape, _FIXED_NAMES))}|notebooks/{_STEM}\.md|worlds/{_STEM}\.json|conversations/[0-9]{{1,6}}\.jsonl"
    r"|avatar\.(?:png|gif|jpg|jpeg|webp|svg)"
)
"""Allowed member names. Everything else is refused, so that no path can leave the archive."""
PIECE_BYTES = 256 * 1024
DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError)
"""Exceptions that Python's zipfile raises for a damaged or malicious archive."""
_END, _END_64 = b"PK\x05\x06", b"PK\x06\x07"
_END_SIZE, _MAX_COMMENT_CHARACTERS = 22, 65_535


@dataclass(frozen=True)
class BundleLimits:
    """Limits of a bundle in bytes, uncompressed. They are far above any real bundle, and below what fills the memory."""

    member: int = 256 * 1024 * 1024
    total: int = 1024 * 1024 * 1024
    members: int = 25_000
    directory: int = 4 * 1024 * 1024
    """Size of the ZIP central directory, which is read at once."""
    line: int = 32 * 1024 * 1024


LIMITS = BundleLimits()


class Archive:
    """Members of an archive by name. Raise FileError for any violation of format or limits."""

    def __init__(
        self,
        file: BinaryIO,
        name: str,
        on_progress: Callable[[float], None] = lambda _: None,
        limits: BundleLimits = LIMITS,
        *,
        is_external: bool = False,
    ) -> None:
        """Open and check the archive. `on_progress` is called with the fraction read, 0 to 1, and may raise to cancel.

        In an archive of another program (`is_external`), members of any name are allowed; folders, links and names that lead
        out of the archive are left out.
        """
        self._name, self._on_progress, self._limits, self._is_external = name, on_progress, limits, is_external
        self._kind = "an archive that Lethe can read" if is_external else "a Lethe file"
        self._read = 0
        try:
            entries = _check_directory(file, name, limits)
            self._zip = zipfile.ZipFile(file)
        except DAMAGED as error:
            raise FileError(name, f"is not {self._kind}, or is incomplete") from error
        self._members = self._check_members(self._zip.infolist())
        if len(self._zip.infolist()) != entries:
            raise FileError(name, "is damaged")
        self._total = sum(member.file_size for member in self._members.values())

    def __contains__(self, member: str) -> bool:
        return member in self._members

    def names_matching(self, pattern: str) -> list[str]:
        """Return the member names that match the pattern completely, sorted."""
        return sorted(name for name in self._members if re.fullmatch(pattern, name))

    def read_member(self, member: str, max_bytes: int) -> bytes:
        """Return the content of a member of at most `max_bytes` bytes."""
        if member not in self._members:
            raise FileError(self.location_of(member), "is missing")
        return b"".join(self._read_pieces(member, max_bytes))

    def read_lines(self, member: str) -> Iterator[tuple[int, bytes]]:
        """Yield the non-empty lines of a member with their numbers."""
        rest, number = b"", 0
        for piece in self._read_pieces(member, self._limits.member):
            *complete, rest = (rest + piece).split(b"\n")
            if len(rest) > self._limits.line:
                raise FileError(self.location_of(member), "contains a line that is too long")
            for line in complete:
                number += 1
                if line.strip():
                    yield number, line
        if rest.strip():
            yield number + 1, rest

    def location_of(self, member: str) -> str:
        """Return the name of a member for error messages."""
        return f"{self._name} › {member}"

    def _read_pieces(self, member: str, max_bytes: int) -> Iterator[bytes]:
        size = 0
        try:
            with self._zip.open(self._members[member]) as opened:
                while piece := opened.read(PIECE_BYTES):
                    size += len(piece)
                    self._read += len(piece)
                    if size > max_bytes or self._read > self._limits.total:
                        raise FileError(self.location_of(member), f"is too large for {self._kind}")
                    self._on_progress(min(1.0, self._read / max(1, self._total)))
                    yield piece
        except DAMAGED as error:
            raise FileError(self.location_of(member), "is damaged") from error

    def _check_members(self, members: list[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
        limits, found = self._limits, {}
        if len(members) > limits.members:
            raise FileError(self._name, f"contains more than {limits.members} files")
        for member in members:
            name = member.filename
            # Links are refused; type 0 means that the archive was written on a system that stores no file types.
            kind = stat.S_IFMT(member.external_attr >> 16)
            if self._is_external and (not is_safe_name(name) or kind not in {0, stat.S_IFREG} or name in found):
                continue
            if not self._is_external and (not NAMES.fullmatch(name) or kind not in {0, stat.S_IFREG}):
                raise FileError(self._name, f"contains “{name[:80]}”, which is not part of a Lethe file")
            if name in found:
                raise FileError(self._name, f"contains “{name[:80]}” twice")
            if member.flag_bits & 1:
                raise FileError(
                    self._name, "is protected by a password", remedy="Ask the author for a file without a password."
                )
            if member.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                raise FileError(self.location_of(name), "uses a compression that Lethe does not support")
            if member.file_size > limits.member:
                raise FileError(self.location_of(name), f"is too large for {self._kind}")
            found[name] = member
        if sum(member.file_size for member in members) > limits.total:
            raise FileError(self._name, "is larger than a Lethe file may be")
        return found


def is_safe_name(name: str) -> bool:
    """Return whether a member's name is that of a file below the archive's root."""
    parts = name.split("/")
    return name.isprintable() and not any(part in {"", ".", ".."} or "\\" in part or ":" in part for part in parts)


def _check_directory(file: BinaryIO, name: str, limits: BundleLimits) -> int:
    """Return the number of members that the archive declares, after checking the size of its central directory.

    `zipfile` reads the whole directory before anything can be checked, so its size is taken from the end record first. ZIP64
    is refused.
    """
    size = file.seek(0, 2)
    if size > limits.total:
        raise FileError(name, "is larger than a Lethe file may be")
    file.seek(max(0, size - _END_SIZE - _MAX_COMMENT_CHARACTERS))
    tail = file.read()
    start = tail.rfind(_END)
    if start < 0 or len(tail) - start < _END_SIZE:
        raise zipfile.BadZipFile
    entries, directory = struct.unpack("<HI", tail[start + 10 : start + 16])
    if _END_64 in tail[max(0, start - 20) : start] or directory > limits.directory or entries > limits.members:
        raise FileError(name, f"contains more than {limits.members} files")
    file.seek(0)
    return int(entries)


class BundlePacker:
    """Writes a bundle member by member; `close` completes the archive."""

    def __init__(self, file: BinaryIO, limits: BundleLimits = LIMITS) -> None:
        # Without ZIP64, which reading refuses.
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6, allowZip64=False)
        self.close = self._zip.close
        self._limits = limits
        self._written = 0

    def add_member(self, member: str, pieces: Iterator[bytes]) -> None:
        """Write a member. Raise FileError if it exceeds the limits for reading."""
        assert NAMES.fullmatch(member), f"“{member}” could not be read again"
        size = 0
        named = zipfile.ZipInfo(member, (1980, 1, 1, 0, 0, 0))  # fixed; the manifest says when the bundle was made
        named.compress_type, named.external_attr = zipfile.ZIP_DEFLATED, (stat.S_IFREG | 0o644) << 16
        with self._zip.open(named, "w") as opened:
            for piece in pieces:
                size += len(piece)
                self._written += len(piece)
                if size > self._limits.member or self._written > self._limits.total:
                    remedy = "Copy the whole data folder instead."
                    raise FileError(member, "is too large for a Lethe file", remedy=remedy)
                opened.write(piece)
