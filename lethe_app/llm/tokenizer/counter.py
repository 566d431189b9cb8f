"""Exact token counts without the engine, for vocabularies where equality with llama.cpp can be proved."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import tiktoken

from lethe_app.llm.models.gguf_header import read_header
from lethe_app.llm.tokenizer.pretokenizers import PRE_TOKENIZERS

_TOKENS, _MERGES, _TYPES = "tokenizer.ggml.tokens", "tokenizer.ggml.merges", "tokenizer.ggml.token_type"
_UNKNOWN, _CONTROL, _USER_DEFINED = 2, 3, 4

# llama.cpp treats these spellings as control tokens regardless of the type in the file.
_ALWAYS_SPECIAL = frozenset({
    b"<|eot_id|>", b"<|im_end|>", b"<|end|>", b"<|return|>", b"<|call|>", b"<|flush|>", b"<|calls|>", b"<end_of_turn>",
    b"<|endoftext|>", b"</s>", b"<|eom_id|>", b"<EOT>", b"_<EOT>", b"[EOT]", b"[EOS]", b"<|end_of_text|>",
    b"<end_of_utterance>", b"<eos>", b"<turn|>", b"<|tool_response>", "<｜end▁of▁sentence｜>".encode(), b"[e~[",
    b"<|channel|>", b"<|message|>", b"<|start|>", b"<|constrain|>",
})  # fmt: skip
# Of these it makes one of each kind special, whichever it meets first; if one is not special already, the result is unknown.
_PERHAPS_SPECIAL = frozenset({
    b"<|fim_prefix|>", b"<fim-prefix>", b"<fim_prefix>", "<｜fim▁begin｜>".encode(), b"<PRE>", b"<|code_prefix|>",
    b"<|fim_suffix|>", b"<fim-suffix>", b"<fim_suffix>", "<｜fim▁hole｜>".encode(), b"<SUF>", b"<|code_suffix|>",
    b"<|fim_middle|>", b"<fim-middle>", b"<fim_middle>", "<｜fim▁end｜>".encode(), b"<MID>", b"<|code_middle|>",
    b"<|prefix|>", b"<|suffix|>", b"<|middle|>",
    b"<|fim_pad|>", b"<fim-pad>", b"<fim_pad>", b"<PAD>", b"[PAD]", b"<|fim_repo|>", b"<|repo_name|>", b"<fim-repo>",
    b"<REPO>", b"<reponame>", b"<|file_sep|>",
})  # fmt: skip
# Models for which llama.cpp also strips the white space around control tokens.
_STRIPPING_NAMES = ("phi-3", "phi3", "modern-bert")

CACHED_COUNTS = 4096
"""Number of text pieces whose count is cached."""
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


@dataclass(frozen=True)
class TokenizerVocabulary:
    """Tokenizer data of a GGUF file."""

    model: str
    """Type of tokenizer; "gpt2" is byte-level BPE."""
    pre: str
    tokens: Sequence[bytes]
    """Token spellings in UTF-8 by id; those of byte-level BPE are in the byte alphabet."""
    merges: Sequence[bytes]
    types: Sequence[int]
    name: str = ""
    """Name of the language model."""

    @classmethod
    def load(cls, path: Path) -> TokenizerVocabulary:
        """Read the vocabulary of the GGUF at `path`. Raise ModelMissing or ModelUnreadable."""
        header = read_header(path, arrays={_TOKENS, _MERGES, _TYPES}, tensors=False)
        spelled = header.strings(_TOKENS)
        tokens = [token or f"[EMPTY_{number}]".encode() for number, token in enumerate(spelled)]
        return cls(
            model=header.text("tokenizer.ggml.model"),
            pre=header.text("tokenizer.ggml.pre"),
            tokens=tokens,
            merges=header.strings(_MERGES),
            types=header.integers(_TYPES),
            name=header.text("general.name"),
        )

    @cached_property
    def token_ids(self) -> dict[bytes, int]:
        return {token: number for number, token in enumerate(self.tokens)}

    @cached_property
    def special_tokens(self) -> dict[bytes, int]:
        """Tokens that llama.cpp finds in a text before anything else, by spelling."""
        found = {
            self.tokens[number]: number
            for number, kind in enumerate(self.types[: len(self.tokens)])
            if kind in (_UNKNOWN, _CONTROL, _USER_DEFINED)
        }
        return found | {token: self.token_ids[token] for token in _ALWAYS_SPECIAL if token in self.token_ids}


@dataclass(frozen=True)
class TokenEncoding:
    """A tiktoken encoding with the mapping of its ranks to the model's token ids."""

    tiktoken: tiktoken.Encoding
    """Encoding without special tokens; its ranks follow the merges and are not the model's token ids."""
    token_ids: list[int]
    """Token id of the model by rank; -1 for a byte missing from the vocabulary, which llama.cpp leaves out."""
    has_gaps: bool


def build_encoding(vocabulary: TokenizerVocabulary) -> TokenEncoding | None:
    """Build an encoding of plain text that yields exactly llama.cpp's tokens, or None if equality cannot be proved.

    Works from memory alone: tiktoken reads no files and does not access the network.
    """
    pre_tokenizer = PRE_TOKENIZERS.get(vocabulary.pre)
    if vocabulary.model != "gpt2" or pre_tokenizer is None or not vocabulary.merges or not _is_special_unambiguous(vocabulary):
        return None
    try:
        merges = MergeTable(vocabulary.merges)
    except AmbiguousMerges:
        return None
    merged_tokens = merges.merged_tokens()
    numbers = [vocabulary.token_ids.get(sign, -1) for sign in BYTE_SPELLINGS]
    vocabulary_ids = vocabulary.token_ids
    merged_ids = [vocabulary_ids.get(token, -1) for token in merged_tokens]
    if -1 in merged_ids:
        return None  # the engine would spell such a token in bytes again
    ranks = {bytes([byte]): byte for byte in range(256)}
    ranks.update(zip(decode_tokens(merged_tokens), range(256, 256 + len(merged_tokens)), strict=True))
    numbers += merged_ids
    if pre_tokenizer.ignores_merges and not _add_unmergeable(vocabulary, merges, ranks, numbers):
        return None
    encoding = tiktoken.Encoding("gguf", pat_str=pre_tokenizer.pattern, mergeable_ranks=ranks, special_tokens={})
    ranks.clear()  # tiktoken holds on to this dictionary, of which its compiled part has a copy
    return TokenEncoding(encoding, numbers, has_gaps=-1 in numbers)


def _add_unmergeable(vocabulary: TokenizerVocabulary, merges: MergeTable, ranks: dict[bytes, int], numbers: list[int]) -> bool:
    """Add the tokens that merging cannot produce, for words that are such a token as a whole; returns False if merging would
    differ.
    """
    for number, token in enumerate(vocabulary.tokens):
        if token in merges.rank or token in vocabulary.special_tokens:
            continue
        raw = decode_token(token)
        if raw is None:
            continue  # no text has this spelling
        if not merges.is_unmergeable(token):
            return False
        ranks[raw] = len(numbers)
        numbers.append(number)
    return True


def _is_special_unambiguous(vocabulary: TokenizerVocabulary) -> bool:
    """Return whether special tokens are found in a text in one way only."""
    name = vocabulary.name.lower()
    if any(part in name for part in _STRIPPING_NAMES):
        return False
    if len(vocabulary.token_ids) != len(vocabulary.tokens):
        return False  # the engine refuses vocabularies with doubles
    if any(token in vocabulary.token_ids and token not in vocabulary.special_tokens for token in _PERHAPS_SPECIAL):
        return False
    if any("\ufffd" in token.decode("utf-8", "replace") for token in vocabulary.special_tokens):
        return False  # spelled in no text, yet found by the engine among the bytes of one
    # llama.cpp searches longer spellings first; its order between two of equal length that overlap is undefined.
    heads = {(len(token), token[:cut]): token for token in vocabulary.special_tokens for cut in range(1, len(token))}
    return not any(
        heads.get((len(token), token[cut:]), token) != token
        for token in vocabulary.special_tokens
        for cut in range(1, len(token))
    )


class TokenCounter:
    """Count and list tokens as llama.cpp does when it parses special tokens and adds none of its own."""

    def __init__(self, vocabulary: TokenizerVocabulary, encoding: TokenEncoding) -> None:
        self._encoding = encoding
        # Longest in bytes first, as in llama.cpp; the order of equal lengths does not matter.
        special = sorted(vocabulary.special_tokens.items(), key=lambda item: -len(item[0]))
        self._special = [(spelling.decode("utf-8"), number) for spelling, number in special]
        self._count_plain = lru_cache(CACHED_COUNTS)(lambda text: len(self._encode_plain(text)))

    @classmethod
    def for_model(cls, path: Path) -> TokenCounter | None:
        """Return a counter for the GGUF at `path`, or None if only the engine itself can count. Raise ModelMissing or
        ModelUnreadable.
        """
        vocabulary = TokenizerVocabulary.load(path)
        encoding = build_encoding(vocabulary)
        return None if encoding is None else cls(vocabulary, encoding)

    @cached_property
    def _special_pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(re.escape(spelling) for spelling, _ in self._special) or r"(?!)")

    def encode(self, text: str) -> list[int]:
        """Return the model's token ids, with special tokens where they are spelled out."""
        tokens: list[int] = []
        for part in self._split_at_special(text):
            tokens += [part] if isinstance(part, int) else self._encode_plain(part)
        return tokens

    def count(self, text: str) -> int:
        """Return the number of tokens. Pieces between special tokens are cached, so only the new part of a conversation
        costs time.
        """
        return sum(1 if isinstance(part, int) else self._count_plain(part) for part in self._split_at_special(text))

    def _encode_plain(self, text: str) -> list[int]:
        numbers = self._encoding.token_ids
        found = [numbers[rank] for rank in self._encoding.tiktoken.encode_ordinary(text)]
        return [number for number in found if number >= 0] if self._encoding.has_gaps else found

    def _split_at_special(self, text: str) -> Iterator[str | int]:
        """Split the text at special tokens; yields their ids and the texts between them."""
        if not self._special_pattern.search(text):
            return iter([text] if text else [])
        parts: list[str | int] = [text]
        for spelling, number in self._special:
            if spelling in text:
                parts = [piece for part in parts for piece in _split_at(part, spelling, number)]
        return iter(parts)


def _split_at(part: str | int, spelling: str, number: int) -> Iterator[str | int]:
    if isinstance(part, int):
        yield part
        return
    between = part.split(spelling)
    for index, text in enumerate(between):
        if index:
            yield number
        if text:
            yield text


# Units of cost: words of ASCII letters by length, and every other character by how rare its script is in vocabularies.
_COST_UNIT = re.compile(r"[A-Za-z]+|\n+|[^\S\n]{2,}|[^\sA-Za-z]")
_LETTERS_PER_TOKEN = 6
_COST_BY_BYTES = {1: 1.0, 2: 1.0, 3: 1.6, 4: 3.0}


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens of a text, for when no model is loaded.

    Compared with the bundled model's vocabulary, over passages in thirty languages and notations, the sum is within 15 % and
    a single passage of prose within 0.5 and 1.5 times the true count. Vocabularies made for more languages need fewer tokens
    for those. Text full of control tokens, which count as words here, is overestimated.
    """
    cost = 0.0
    for match in _COST_UNIT.finditer(text):
        piece = match[0]
        if piece[0].isalpha() and piece[0].isascii():
            cost += 1 + (len(piece) - 1) // _LETTERS_PER_TOKEN
        else:
            cost += _COST_BY_BYTES[len(piece[0].encode("utf-8", "replace"))]
    return math.ceil(cost)
