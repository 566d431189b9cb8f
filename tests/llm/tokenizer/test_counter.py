"""Counting without the engine gives exactly the engine's tokens, or says that it cannot."""

from __future__ import annotations

import dataclasses
import random
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import llama_cpp
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lethe_app.llm.tokenizer.counter import (
    BYTE_SPELLINGS,
    AmbiguousMerges,
    MergeTable,
    TokenCounter,
    TokenizerVocabulary,
    build_encoding,
    decode_token,
    decode_tokens,
    estimate_tokens,
)
from lethe_app.llm.tokenizer.pretokenizers import PRE_TOKENIZERS
from tests.llm.gguf_factory import write_vocabulary
from tests.sweep import examples, exhaustive

CORPUS = Path(__file__).parents[1] / "data" / "corpus.txt"
PASSAGES = dict(block.removeprefix("%% ").split("\n", 1) for block in CORPUS.read_bytes().decode().split("\n%%%%\n"))

# One name of each family of rules.
FAMILIES = (
    "smollm", "gpt-2", "llama-bpe", "dbrx", "qwen2", "qwen35", "tekken", "gpt-4o", "minicpm5", "bailingmoe", "seed-coder", "",
    "falcon", "deepseek-v3",
)  # fmt: skip
TYPICAL_FAMILIES = {"smollm", "llama-bpe", "qwen2", "gpt-4o", "deepseek-v3"}
"""Of the starter model and of most models that people have; the others are swept."""

# Every kind of sign that some rule treats in its own way.
KINDS = [
    *"aAzZsStTrReEvVmMlLdDéÉßǅʰ中文ーアイ・゠゛\u3099\u3097\u3040\u309a한ا", *"0123456789٣½Ⅷ²१ि", *" " * 8, "\t", "\n", "\n",
    "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1f", "\x85", "\xa0", "\u2003", "\u3000", "\u2028", *"'''’.,!?;:~`^$+<>=|/\\[]{}()",
    *'-_@#%&*"',
    "\u0301", "\u20dd", "\u200d", "\ufe0f", "😀", "€", "©", "\x00", "\x01", "\x7f", "\xad", "\u0378", "\ue000", "\U0010ffff",
    "\u1c89", "\U00010d40", "<|x|>", "<|x", "<\u200d|x|>", "123", "'ll", "'RE", " 1",
]  # fmt: skip

Tokenize = Callable[[str], list[int]]


class Engine:
    """llama.cpp with a vocabulary and no weights."""

    def __init__(self, path: Path) -> None:
        self._model = llama_cpp.Llama(str(path), vocab_only=True, verbose=False)

    def __call__(self, text: str) -> list[int]:
        return self._model.tokenize(text.encode(), add_bos=False, special=True)

    def close(self) -> None:
        self._model.close()


def counter_for(vocabulary: TokenizerVocabulary) -> TokenCounter:
    encoding = build_encoding(vocabulary)
    assert encoding is not None
    return TokenCounter(vocabulary, encoding)


def probe(pre: str) -> TokenizerVocabulary:
    """A vocabulary in which every two bytes merge, so that each border between words shows in the tokens."""
    merges = [left + b" " + right for left in BYTE_SPELLINGS for right in BYTE_SPELLINGS]
    tokens = [b"<|x|>", *BYTE_SPELLINGS, *(merge.replace(b" ", b"") for merge in merges)]
    return TokenizerVocabulary("gpt2", pre, tokens, merges, [3] + [1] * (len(tokens) - 1))


def small(merges: list[str], *, pre: str = "gpt-2", extra: tuple[str, ...] = ()) -> TokenizerVocabulary:
    """The 256 bytes, one control token, what the merges make, and more."""
    made = dict.fromkeys(merge.replace(" ", "").encode() for merge in merges)
    tokens = [b"<|x|>", *BYTE_SPELLINGS, *made, *(token.encode() for token in extra)]
    return TokenizerVocabulary("gpt2", pre, tokens, [merge.encode() for merge in merges], [3] + [1] * (len(tokens) - 1))


@pytest.fixture(scope="module")
def starter_counter(starter_model: Path) -> TokenCounter:
    counter = TokenCounter.for_model(starter_model)
    assert counter is not None
    return counter


@pytest.fixture(scope="module")
def starter_engine(starter_model: Path) -> Iterator[Engine]:
    engine = Engine(starter_model)
    yield engine
    engine.close()


@pytest.mark.parametrize("title", PASSAGES)
def test_every_passage_has_the_engines_tokens(title: str, starter_counter: TokenCounter, starter_engine: Engine):
    text = PASSAGES[title]

    assert starter_counter.encode(text) == starter_engine(text)
    assert starter_counter.count(text) == len(starter_engine(text))


def test_passages_put_together_have_the_engines_tokens(starter_counter: TokenCounter, starter_engine: Engine):
    text = "<|im_end|>\n".join(PASSAGES.values())

    assert starter_counter.encode(text) == starter_engine(text)


@settings(max_examples=examples(400), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text() | st.lists(st.sampled_from([*KINDS, "<|im_start|>", "<|im_end|>", "<|im_"]), max_size=40).map("".join))
def test_any_text_has_the_engines_tokens(starter_counter: TokenCounter, starter_engine: Engine, text: str):
    assert starter_counter.encode(text) == starter_engine(text)


def test_a_joiner_inside_a_control_tokens_spelling_disarms_it(starter_counter: TokenCounter, starter_engine: Engine):
    spelling = "<|im_start|>"
    control = starter_counter.encode(spelling)

    assert len(control) == 1
    for place in range(1, len(spelling)):
        text = f"{spelling[:place]}\u200d{spelling[place:]}"
        assert starter_counter.encode(text) == starter_engine(text)
        assert control[0] not in starter_counter.encode(text)


@pytest.mark.parametrize(
    "pre", [pytest.param(pre, id=pre or "none", marks=() if pre in TYPICAL_FAMILIES else exhaustive) for pre in FAMILIES]
)
def test_each_family_cuts_words_where_the_engine_does(pre: str, tmp_path: Path):
    vocabulary = probe(pre)
    engine, counter = Engine(write_vocabulary(tmp_path / "v.gguf", vocabulary)), counter_for(vocabulary)
    chance = random.Random(f"family {pre}")
    texts = [*PASSAGES.values(), *("".join(chance.choices(KINDS, k=chance.randint(1, 30))) for _ in range(700))]

    differing = [text for text in texts if counter.encode(text) != engine(text)]

    engine.close()
    assert differing == []


def test_every_family_is_tested():
    assert {PRE_TOKENIZERS[pre].pattern for pre in FAMILIES} == {rules.pattern for rules in PRE_TOKENIZERS.values()}


def test_letters_newer_than_the_engines_tables_are_cut_as_it_does(tmp_path: Path):
    vocabulary = probe("qwen2")
    engine, counter = Engine(write_vocabulary(tmp_path / "v.gguf", vocabulary)), counter_for(vocabulary)
    blocks = ((0x80, 0x3100), (0xA640, 0xABFF), (0x10000, 0x12000), (0x16100, 0x16E00), (0x1CC00, 0x1CD00), (0x1E000, 0x1FC00))
    signs = [chr(code) for first, end in blocks for code in range(first, end)]

    text = "\t".join(f"a{sign}1{sign} {sign}." for sign in signs)

    assert counter.encode(text) == engine(text)
    engine.close()


def honest_merges(chance: random.Random, letters: str) -> list[str]:
    """Merges learnt from words, as real vocabularies are."""
    words = [list("".join(chance.choices(letters, k=chance.randint(2, 9)))) for _ in range(8)]
    merges: list[str] = []
    for _ in range(chance.randint(2, 14)):
        pairs = Counter((word[at], word[at + 1]) for word in words for at in range(len(word) - 1))
        if not pairs:
            break
        left, right = pairs.most_common(1)[0][0]
        merges.append(f"{left} {right}")
        for word in words:
            at = 0
            while at < len(word) - 1:
                if (word[at], word[at + 1]) == (left, right):
                    word[at : at + 2] = [left + right]
                at += 1
    return merges


def careless_merges(chance: random.Random, letters: str) -> list[str]:
    """Merges nobody would learn: repeated results, wrong order, several ways to the same token."""
    known, merges = list(letters), []
    for _ in range(chance.randint(2, 10)):
        left, right = chance.choice(known), chance.choice(known)
        if len(left + right) <= 8:
            merges.append(f"{left} {right}")
            known.append(left + right)
    if chance.random() < 0.5:
        chance.shuffle(merges)
    return merges


def test_honest_vocabularies_are_never_refused():
    chance = random.Random(1)

    for _ in range(500):
        assert build_encoding(small(honest_merges(chance, "abc"))) is not None


def test_a_vocabulary_that_is_accepted_has_the_engines_tokens(tmp_path: Path):
    chance = random.Random(2)
    accepted = refused = 0
    for _ in range(300):
        merges = chance.choice([honest_merges, careless_merges])(chance, "ab")
        extra = {"".join(chance.choices("ab", k=chance.randint(2, 6))) for _ in range(chance.choice((0, 2)))}
        extra -= {merge.replace(" ", "") for merge in merges}
        vocabulary = small(merges, pre=chance.choice(("gpt-2", "llama-bpe")), extra=tuple(sorted(extra)))
        encoding = build_encoding(vocabulary)
        if encoding is None:
            refused += 1
            continue
        accepted += 1
        counter, engine = TokenCounter(vocabulary, encoding), Engine(write_vocabulary(tmp_path / "v.gguf", vocabulary))
        for _ in range(30):
            text = "".join(chance.choices("ab", k=chance.randint(1, 14)))
            assert counter.encode(text) == engine(text), (vocabulary.pre, merges, extra, text)
        engine.close()

    assert accepted > 100
    assert refused > 20


def test_a_token_made_before_its_parts_is_refused():
    with pytest.raises(AmbiguousMerges):
        MergeTable([b"ab c", b"a b"])
    assert build_encoding(small(["ab c", "a b"])) is None


def test_a_pair_that_can_never_meet_makes_no_token():
    merges = MergeTable([b"b c", b"a b", b"ab c"])  # “abc” always becomes a·bc

    assert b"ab" in merges.rank
    assert b"abc" not in merges.rank


def test_a_whole_word_that_merging_cannot_make_is_one_token_only_where_merges_are_ignored(tmp_path: Path):
    for pre, expected in (("llama-bpe", 1), ("gpt-2", 3)):
        vocabulary = small(["b c", "a b", "c d", "ab cd"], pre=pre)
        engine, counter = Engine(write_vocabulary(tmp_path / "v.gguf", vocabulary)), counter_for(vocabulary)
        for text in ("abcd", "abcda", " abcd", "abcd abcd"):
            assert counter.encode(text) == engine(text)
        assert counter.count("abcd") == expected
        engine.close()


def test_what_merging_by_result_would_join_but_no_pair_lists_is_refused():
    # The engine keeps ab·c apart inside words, but takes “abc” as one where it is a word of its own.
    assert build_encoding(small(["a b"], pre="llama-bpe", extra=("abc",))) is None
    assert build_encoding(small(["a b"], pre="gpt-2", extra=("abc",))) is not None


def test_bytes_the_vocabulary_lacks_are_left_out_as_the_engine_does(tmp_path: Path):
    full = small(["a b"])
    kept = [token for token in full.tokens if token not in (b"z", BYTE_SPELLINGS[0xC3])]
    vocabulary = dataclasses.replace(full, tokens=kept, types=full.types[: len(kept)])
    engine, counter = Engine(write_vocabulary(tmp_path / "v.gguf", vocabulary)), counter_for(vocabulary)

    assert counter.encode("abzäz") == engine("abzäz")
    assert counter.count("z") == 0
    engine.close()


@pytest.mark.parametrize(
    "changed",
    [{"model": "llama"}, {"model": "bert"}, {"pre": "deepseek-llm"}, {"pre": "never-heard-of"}, {"merges": []},
     {"name": "Phi-3 mini 4k instruct"}],
)  # fmt: skip
def test_what_cannot_be_shown_to_be_exact_is_refused(changed: dict):
    assert build_encoding(dataclasses.replace(small(["a b"]), **changed)) is None


def test_tokens_that_only_look_like_control_tokens_are_refused():
    vocabulary = small(["a b"], extra=("<|fim_prefix|>",))
    marked = dataclasses.replace(vocabulary, types=[*vocabulary.types[:-1], 3])

    assert build_encoding(vocabulary) is None
    assert build_encoding(marked) is not None


def test_control_tokens_of_one_length_that_overlap_are_refused():
    vocabulary = small(["a b"], extra=("<ab", "abc"))

    assert build_encoding(dataclasses.replace(vocabulary, types=[*vocabulary.types[:-2], 3, 3])) is None
    assert build_encoding(dataclasses.replace(vocabulary, types=[*vocabulary.types[:-2], 3, 1])) is not None


def test_longer_control_tokens_are_found_before_shorter_ones(tmp_path: Path):
    vocabulary = small(["a b"], extra=("<a>", "<a><b>", "  ", "b><b", "</s>"))
    vocabulary = dataclasses.replace(vocabulary, types=[*vocabulary.types[:-5], 3, 4, 4, 3, 1])
    counter, engine = counter_for(vocabulary), Engine(write_vocabulary(tmp_path / "v.gguf", vocabulary))

    for text in ("<a><b>", "<a><a><b><b>", "<b><a>", "x   y    z", "<a>\n<a", "</s>a</s>"):
        assert counter.encode(text) == engine(text), text
    engine.close()


def test_a_tokenizer_of_another_kind_is_not_counted(tmp_path: Path):
    vocabulary = dataclasses.replace(small(["a b"]), model="llama")

    assert TokenCounter.for_model(write_vocabulary(tmp_path / "v.gguf", vocabulary)) is None


def test_nothing_reaches_the_network(starter_model: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object, **__: object) -> None:
        pytest.fail("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    counter = TokenCounter.for_model(starter_model)

    assert counter.count("Do you remember the lighthouse?") == 6


def test_half_a_surrogate_pair_counts_as_an_unknown_sign(starter_counter: TokenCounter):
    assert starter_counter.encode("a\ud83d") == starter_counter.encode("a\ufffd")


def test_nothing_costs_nothing(starter_counter: TokenCounter):
    assert starter_counter.encode("") == []
    assert estimate_tokens("") == 0


@pytest.mark.parametrize("unit", [" ", "\n", " \n", "a", "Aa", "1", "!", "中", "\x01", "'"])
def test_long_monotonous_text_is_counted_quickly(starter_counter: TokenCounter, unit: str):
    started = time.process_time()

    assert starter_counter.count(unit * 50_000 + "x") > 0

    assert time.process_time() - started < 2


def test_a_large_vocabulary_is_ready_quickly(tmp_path: Path):
    pairs = [left + b" " + right for left in BYTE_SPELLINGS for right in BYTE_SPELLINGS]
    merges = pairs + [pair.replace(b" ", b"") + b" " + sign for pair in pairs for sign in BYTE_SPELLINGS[:2]][:84_000]
    tokens = [b"<|x|>", *BYTE_SPELLINGS, *(merge.replace(b" ", b"") for merge in merges)]
    path = write_vocabulary(
        tmp_path / "v.gguf", TokenizerVocabulary("gpt2", "qwen2", tokens, merges, [3] + [1] * (len(tokens) - 1))
    )
    started = time.process_time()

    assert TokenCounter.for_model(path) is not None

    assert time.process_time() - started < 1.5  # measured 0.4 s on an idle machine


def test_the_byte_alphabet_is_taken_both_ways():
    assert decode_tokens(BYTE_SPELLINGS) == [bytes([byte]) for byte in range(256)]
    assert decode_token("Ġthe".encode()) == b" the"
    assert decode_token(b"a b") is None
    assert decode_token("中".encode()) is None


def test_the_estimate_is_as_near_as_it_says(starter_counter: TokenCounter):
    prose = ["English", "German", "French", "Russian", "Greek", "Arabic", "Hindi", "Chinese", "Japanese", "Korean", "Roleplay"]
    ratios = {title: estimate_tokens(PASSAGES[title]) / starter_counter.count(PASSAGES[title]) for title in prose}
    total = sum(map(estimate_tokens, PASSAGES.values())) / sum(map(starter_counter.count, PASSAGES.values()))

    assert 0.85 < total < 1.15
    assert all(0.5 < ratio < 1.5 for ratio in ratios.values()), ratios
