"""The archive around a bundle: opens what a stranger may have packed, and trusts no name and no number in it.

Nothing is ever unpacked to the disk. A member is read piece by piece, and no further than it may be large, whatever it claims.
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
MEMORIES, FACTS, FORGOTTEN, HABITS = "memories.jsonl", "facts.jsonl", "forgotten.jsonl", "habits.json"
MIND, LATELY = "mind.json", "notebooks/index.txt"
NAMES = re.compile(
    r"manifest\.json|persona\.json|memories\.jsonl|facts\.jsonl|forgotten\.jsonl|habits\.json"
    r"|mind\.json|notebooks/index\.txt|notebooks/[^/\\:\0.][^/\\:\0]{0,199}\.md"
    r"|avatar\.(?:png|gif|jpg|jpeg|webp|svg)|worlds/[^/\\:\0.][^/\\:\0]{0,199}\.json|conversations/[0-9]{1,6}\.jsonl"
)
"""What may be inside; so no name leads anywhere else."""
PIECE = 256 * 1024
DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError)
"""What Python's reader of archives raises at one that somebody has spoilt."""
_END, _END_64 = b"PK\x05\x06", b"PK\x06\x07"
_END_SIZE, _LONGEST_COMMENT = 22, 65_535


@dataclass(frozen=True)
class BundleLimits:
    """How large a bundle may be, in bytes unpacked. Far more than anybody writes, and less than fills a memory."""

    member: int = 256 * 1024 * 1024
    everything: int = 1024 * 1024 * 1024
    members: int = 25_000
    directory: int = 4 * 1024 * 1024
    """The archive's own list of names, which is read at once."""
    line: int = 32 * 1024 * 1024


LIMITS = BundleLimits()


class Archive:
    """The members by name. Raises FileError for whatever is not as it should be."""

    def __init__(self, file: BinaryIO, name: str, told: Callable[[float], None], limits: BundleLimits = LIMITS) -> None:
        """`told` hears how much was read, from 0 to 1, and may raise to have it end."""
        self._name, self._told, self._limits = name, told, limits
        self._read = 0
        try:
            entries = _check_directory(file, name, limits)
            self._zip = zipfile.ZipFile(file)
        except DAMAGED as error:
            raise FileError(name, "is not a bundle of Lethe, or only a part of one") from error
        self._members = self._checked(self._zip.infolist())
        if len(self._members) != entries:
            raise FileError(name, "is damaged")
        self._total = sum(member.file_size for member in self._members.values())

    def __contains__(self, member: str) -> bool:
        return member in self._members

    def names(self, pattern: str) -> list[str]:
        """Members whose whole name fits, in order."""
        return sorted(name for name in self._members if re.fullmatch(pattern, name))

    def whole(self, member: str, most: int) -> bytes:
        """All of a member that may be `most` bytes large."""
        if member not in self._members:
            raise FileError(self.place(member), "is missing")
        return b"".join(self._pieces(member, most))

    def lines(self, member: str) -> Iterator[tuple[int, bytes]]:
        """Line by line with their numbers; empty ones are passed over."""
        rest, number = b"", 0
        for piece in self._pieces(member, self._limits.member):
            *whole, rest = (rest + piece).split(b"\n")
            if len(rest) > self._limits.line:
                raise FileError(self.place(member), "holds a line that is too long to be read")
            for line in whole:
                number += 1
                if line.strip():
                    yield number, line
        if rest.strip():
            yield number + 1, rest

    def place(self, member: str) -> str:
        """How a member is called when something is told of it."""
        return f"{self._name} › {member}"

    def _pieces(self, member: str, most: int) -> Iterator[bytes]:
        size = 0
        try:
            with self._zip.open(self._members[member]) as opened:
                while piece := opened.read(PIECE):
                    size += len(piece)
                    self._read += len(piece)
                    if size > most or self._read > self._limits.everything:
                        raise FileError(self.place(member), "is larger than a bundle may hold")
                    self._told(min(1.0, self._read / max(1, self._total)))
                    yield piece
        except DAMAGED as error:
            raise FileError(self.place(member), "is damaged") from error

    def _checked(self, members: list[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
        limits, found = self._limits, {}
        if len(members) > limits.members:
            raise FileError(self._name, f"holds more than {limits.members} files")
        for member in members:
            name = member.filename
            kind = stat.S_IFMT(member.external_attr >> 16)
            if not NAMES.fullmatch(name) or kind not in {0, stat.S_IFREG}:
                raise FileError(self._name, f"holds “{name[:80]}”, which does not belong into a bundle")
            if name in found:
                raise FileError(self._name, f"holds “{name[:80]}” twice")
            if member.flag_bits & 1:
                raise FileError(self._name, "is locked with a password", remedy="Ask whoever made it for one without.")
            if member.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                raise FileError(self.place(name), "is packed in a way that Lethe does not read")
            if member.file_size > limits.member:
                raise FileError(self.place(name), "is larger than a bundle may hold")
            found[name] = member
        if sum(member.file_size for member in members) > limits.everything:
            raise FileError(self._name, "is larger than a bundle may be")
        return found


def _check_directory(file: BinaryIO, name: str, limits: BundleLimits) -> int:
    """The list of names is read before anything can be asked of it, so its own size is looked at first; how many there are."""
    size = file.seek(0, 2)
    if size > limits.everything:
        raise FileError(name, "is larger than a bundle may be")
    file.seek(max(0, size - _END_SIZE - _LONGEST_COMMENT))
    tail = file.read()
    place = tail.rfind(_END)
    if place < 0 or len(tail) - place < _END_SIZE:
        raise zipfile.BadZipFile
    entries, directory = struct.unpack("<HI", tail[place + 10 : place + 16])
    if _END_64 in tail[max(0, place - 20) : place] or directory > limits.directory or entries > limits.members:
        raise FileError(name, f"holds more than {limits.members} files")
    file.seek(0)
    return int(entries)


class Packer:
    """Writes a bundle, member by member."""

    def __init__(self, file: BinaryIO, limits: BundleLimits = LIMITS) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6, allowZip64=False)
        self._limits = limits
        self._written = 0

    def add_member(self, member: str, pieces: Iterator[bytes]) -> None:
        """Raises FileError for more than could be read again."""
        assert NAMES.fullmatch(member), f"“{member}” could not be read again"
        size = 0
        named = zipfile.ZipInfo(member, (1980, 1, 1, 0, 0, 0))  # when it was made is told in the manifest
        named.compress_type, named.external_attr = zipfile.ZIP_DEFLATED, (stat.S_IFREG | 0o644) << 16
        with self._zip.open(named, "w") as opened:
            for piece in pieces:
                size += len(piece)
                self._written += len(piece)
                if size > self._limits.member or self._written > self._limits.everything:
                    remedy = "Take the whole data folder along instead."
                    raise FileError(member, "is more than a bundle may hold", remedy=remedy)
                opened.write(piece)

    def finish(self) -> None:
        self._zip.close()
