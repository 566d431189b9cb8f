"""Byte-level BPE alphabet, and the check whether tiktoken's merging equals llama.cpp's for a vocabulary.

tiktoken joins the two neighbours whose joined bytes have the lowest rank; llama.cpp joins the two whose pair is listed
first. They agree if every token is made, on its own, by one listed pair: whenever the bytes of a token lie between two
borders that no merge has crossed yet, they have been joined exactly as in the token alone, so the only neighbours that can
ever join into it are that pair. `MergeTable` checks this for each token by following the pair's inner borders downwards: at
each step the half that was made later is split, and if the tokens then at the border would have been joined earlier, the pair
can never become adjacent.
"""

from __future__ import annotations

from collections.abc import Sequence

Pair = tuple[bytes, bytes]


def build_alphabet() -> list[str]:
    """Return the character that represents each of the 256 bytes: printable bytes themselves, the others from U+0100 on."""
    plain = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in plain else next(others)) for byte in range(256)]


BYTE_SPELLINGS = [sign.encode() for sign in build_alphabet()]
_TO_BYTES = {ord(sign): byte for byte, sign in enumerate(build_alphabet())}
# Characters outside the alphabet must not be decoded as bytes.
_UNMAPPED = {code: 0xFFFD for code in range(256) if code not in _TO_BYTES}


def decode_token(token: bytes) -> bytes | None:
    """Return the bytes a token's spelling represents, or None if it is not spelled in the byte alphabet."""
    try:
        return token.decode("utf-8").translate({**_UNMAPPED, **_TO_BYTES}).encode("latin-1")
    except UnicodeError:
        return None


def decode_tokens(tokens: Sequence[bytes]) -> list[bytes]:
    """Return the bytes of many tokens known to be spelled in the byte alphabet, in one conversion."""
    if not tokens:
        return []
    # A line feed is no character of the alphabet, so it can separate the tokens. The byte 0x0A is represented by another
    # character and would become a line feed on decoding, so the separators are mapped to U+01FF at the same time.
    table: dict[int, int | None] = {**_TO_BYTES, 0x0A: 0x1FF}
    return [part.encode("latin-1") for part in b"\n".join(tokens).decode("utf-8").translate(table).split("\u01ff")]


class AmbiguousMerges(Exception):
    """Raised if merging by pair and merging by result can differ for this vocabulary."""


class MergeTable:
    """Tokens that merging can produce, each with its rank and the one pair that makes it."""

    def __init__(self, merges: Sequence[bytes]) -> None:
        """Read the merges in order of rank. Raise AmbiguousMerges."""
        self.rank: dict[bytes, int] = dict.fromkeys(BYTE_SPELLINGS, -1)
        self._pairs: dict[bytes, Pair] = {}
        self._read_merges(merges)

    def merged_tokens(self) -> list[bytes]:
        """Return every token that merging makes, by rank."""
        return list(self._pairs)

    def _read_merges(self, merges: Sequence[bytes]) -> None:
        rank, halves = self.rank, self._pairs
        postponed: list[tuple[int, bytes, bytes]] = []
        for index, merge in enumerate(merges):
            left, _, right = merge.partition(b" ")
            token = left + right
            if token in rank:
                continue  # already made by an earlier pair, hence never by this one
            if left in rank and right in rank and self.can_meet(left, right):
                rank[token] = index
                halves[token] = left, right
            else:
                postponed.append((index, left, right))
        for index, left, right in postponed:
            if left + right in rank or left not in rank or right not in rank:
                continue
            if max(rank[left], rank[right]) > index:
                raise AmbiguousMerges(f"the pair {left!r} {right!r} is listed before its parts")

    def can_meet(self, left: bytes, right: bytes) -> bool:
        """Return whether these two tokens can ever become adjacent, that is, no earlier merge would cross their border."""
        rank, halves = self.rank, self._pairs
        rank_left, rank_right = rank[left], rank[right]
        while True:
            if rank_left > rank_right:
                limit = rank_left
                left = halves[left][1]
                rank_left = rank[left]
            elif rank_right >= 0:
                limit = rank_right + 1  # of two equal ones the left is joined first, so the border would be too
                right = halves[right][0]
                rank_right = rank[right]
            else:
                return True  # both are single bytes
            if rank.get(left + right, limit) < limit:
                return False

    def is_unmergeable(self, token: bytes) -> bool:
        """Return whether no split of `token` into two tokens can become adjacent; merging then never yields it."""
        text = token.decode("utf-8")
        cuts = ((text[:cut].encode(), text[cut:].encode()) for cut in range(1, len(text)))
        return not any(left in self.rank and right in self.rank and self.can_meet(left, right) for left, right in cuts)
