"""Which keywords are found in a text, checked one by one and against a slow matcher that nobody could get wrong."""

from __future__ import annotations

import time
import unicodedata

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_app.brain.lore.keyword_matcher import PATTERNS_SECONDS, Keyword, KeywordMatcher, find_spans
from lethe_app.brain.lore.regex_keywords import parse_expression
from lethe_app.brain.vocabulary.normalize import normalize_text
from tests.sweep import examples

quick = settings(max_examples=examples(150), database=None)


def found(text: str, *keywords: Keyword | str) -> list[str]:
    """The texts of the keywords that are in it."""
    keys = [Keyword(each) if isinstance(each, str) else each for each in keywords]
    (numbers,) = KeywordMatcher(keys).find([text])
    return [keys[number].text for number in sorted(numbers)]


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("king", "The KING is dead"),
        ("king", "king"),
        ("king", "the king’s horse"),
        ("king", "*king*, _king_"),
        ("C++", "I write C++."),
        ("C++", "It is C++11 or nothing"),
        (".NET", "in .NET, yes"),
        ("@x", "ask @x today"),
        ("@x", "mail me@x"),
        ("(king)", "long live the(king)!"),
        ("#1", "we are #1"),
        ("old king", "The old\n  king sleeps"),
        ("Rome, Italy", "She was born in Rome, Italy."),
        ("don’t", "I don't know"),
        ("don't", "I don’t know"),
        ('the "Fox"', "we call it the “fox”"),
        ("Weigh-House", "the Weigh‑House and the Weigh–House"),
        ("café", "at the cafe\u0301"),
        ("cafe", "at the café"),
        ("naïve", "how naive"),
        ("istanbul", "in İstanbul"),
        ("ёлка", "у елка"),
        ("STRASSE", "in der Straße"),
        ("ABC", "full width: ＡＢＣ"),
        ("soft", "so\u00adft"),
        ("国王", "昔々国王がいた"),
        ("王", "国王"),
        ("さくら", "あのさくらさんが来た"),
        ("サクラ", "ｻｸﾗが"),
        ("กษัตริย์", "พระมหากษัตริย์ไทย"),
        ("Alice", "私はAliceです"),
        ("왕", "옛날에 왕이 있었다"),
        ("😀", "so 😀."),
        ("राम", "यह राम है"),
        (" king ", "the king"),
    ],
)
def test_a_keyword_is_found_where_a_reader_would_see_it(key: str, text: str):
    assert found(text, key) == [key]


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("king", "the kingdom, walking"),
        ("C++", "ObjC++"),
        ("C++", "C+ +"),
        ("@x", "ask @xavier"),
        ("old king", "the gold king"),
        ("old king", "old kings"),
        ("राम", "रामायण"),
        ("왕", "국왕"),
        ("42", "1428"),
        ("король", "королева"),
        ("", "anything"),
        ("  ", "any thing"),
        ("\u200b", "any thing"),
    ],
)
def test_a_keyword_is_not_found_inside_another_word_or_out_of_nothing(key: str, text: str):
    assert found(text, key) == []


def test_part_of_a_word_is_enough_when_whole_words_are_not_asked_for():
    assert found("the kingdom", Keyword("king", whole_word=False)) == ["king"]


def test_case_counts_only_where_it_is_asked_for():
    cased = Keyword("Dry", case_sensitive=True)

    assert found("at the Dry", cased) == ["Dry"]
    assert found("a dry towel", cased, Keyword("DRY")) == ["DRY"]


# --- against the slow matcher ---------------------------------------------------------------------------------------------

PIECES = [*"abAké ’'“\"+@(-_1王の왕ไß", "ab", "e\u0301", "ﬁ", " ", "  ", "\n", "Ab", "İ", "–"]
texts = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
keys = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join)
UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]")
HANGUL = regex.compile(r"\p{Hangul}")
LETTER = regex.compile(r"[\p{L}\p{M}\p{N}]")


def spelled(text: str, *, keep_case: bool) -> str:
    """One character after the other."""
    for signs, plain in (("‘’`", "'"), ("“”", '"'), ("–—", "-")):
        for sign in signs:
            text = text.replace(sign, plain)
    text = unicodedata.normalize("NFKC", text)
    if not keep_case:
        text = unicodedata.normalize("NFKC", text.casefold())
    return regex.sub(r"\s+", " ", text).strip()


def script(character: str) -> str:
    if not LETTER.match(character) or UNSPACED.match(character):
        return "none"
    return "Korean" if HANGUL.match(character) else "spaced"


def slowly(keyword: Keyword, text: str) -> bool:
    """Try every place."""
    key, text = (spelled(each, keep_case=keyword.case_sensitive) for each in (keyword.text, text))
    for start in range(len(text)):
        if not key or not text.startswith(key, start):
            continue
        before, after = text[:start][-1:], text[start + len(key) :][:1]
        joined_before = before and script(before) == script(key[0]) != "none"
        joined_after = after and script(after) == script(key[-1]) == "spaced"
        if not keyword.whole_word or not (joined_before or joined_after):
            return True
    return False


@quick
@given(st.lists(st.builds(Keyword, keys, st.booleans(), st.booleans()), max_size=8), st.lists(texts, max_size=4))
def test_all_keywords_at_once_are_found_as_each_by_itself(keywords: list[Keyword], said: list[str]):
    expected = [{number for number, keyword in enumerate(keywords) if slowly(keyword, text)} for text in said]

    assert KeywordMatcher(keywords).find(said) == expected


@quick
@given(st.builds(Keyword, keys, st.booleans(), st.booleans()), texts)
def test_a_keyword_has_a_place_where_it_is_found(keyword: Keyword, text: str):
    assert bool(find_spans(keyword, text)) == bool(found(text, keyword))


@pytest.mark.parametrize(
    "key", ["ㄅ", "ꀀ", "བ", "ᥐ", "ᦀ", "ᨠ", "ꪀ", "\U00017000", "\U0001b170", "ꧠ", "ꩠ", "々", "〆", "〇", "ㇰ"]
)
def test_a_script_without_spaces_has_no_word_boundaries(key: str):
    assert found(key * 3, key) == [key]


@quick
@given(st.text(max_size=8), st.text(max_size=8))
def test_any_text_at_all_contains_itself(key: str, rest: str):
    keyword = Keyword(key, whole_word=False)
    if parse_expression(key.strip()) is None and normalize_text(key, keep_case=False):
        assert found(f"{rest} {key} {rest}", keyword) == [key]


@quick
@given(st.text(max_size=30), st.booleans())
def test_ordinary_ascii_and_foreign_text_are_folded_alike(text: str, keep_case: bool):
    assert normalize_text(text, keep_case=keep_case) == normalize_text(text + "\u200b", keep_case=keep_case)


# --- regular expressions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("/k(in|ni)g/", "the kingdom"),
        ("/KING/i", "the king"),
        (r"/\bking\b/", "the king"),
        ("/^king/m", "hail\nking"),
        ("/a.b/s", "a\nb"),
        (r"/a\/b/", "a/b"),
        ("/don’t/", "I don't"),
        (r"/(?<x>a)\k<x>/", "baa"),
        (r"/\u{1F600}/u", "so 😀"),
        ("/王+/gu", "王王"),
    ],
)
def test_an_expression_is_found(key: str, text: str):
    assert found(text, key) == [key]


@pytest.mark.parametrize(
    ("key", "text"), [("/KING/", "the king"), (r"/\bking\b/", "kingdom"), ("/a.b/", "a\nb"), ("/^b/", "a\nb")]
)
def test_an_expression_keeps_to_its_own_flags(key: str, text: str):
    assert found(text, Keyword(key, whole_word=False, case_sensitive=False)) == []


@pytest.mark.parametrize("key", ["/home/user", "and/or", "/", "//", "/a/b/", "/unclosed", "1/2/2026"])
def test_slashes_alone_make_no_expression(key: str):
    assert parse_expression(key) is None
    assert found(f"so {key} it is", key) == [key]


@pytest.mark.parametrize(
    "key",
    [
        "/(((/",
        "/[^]/",
        "/*/",
        r"/\p{Nothing}/",
        "/" + "(" * 900 + "a" + ")" * 900 + "/",
        "/((a{1000}){1000}){1000}/",
        "/(?:(?:x{0,999}){999}){9}/",
        "/a{99999999999999999999}/",
        "/(?x)a/",
        "/(?#[)((a{1000}){1000}){1000}(?#])/",
        "/" + "a" * 2001 + "/",
    ],
)
def test_a_broken_or_hostile_expression_matches_nothing_and_is_reported(key: str):
    keywords = KeywordMatcher([Keyword("king"), Keyword(key)])

    assert keywords.find(["aaa king xxx (((" + key]) == [{0}]
    assert keywords.problems.keys() == {1}


@pytest.mark.parametrize("key", [r"/\(?xmas\)?/", r"/\d{4}-\d{2}-\d{2}/", "/king.{0,200}castle/", "/[(][?]x/", "/[]x]/"])
def test_a_harmless_expression_is_not_taken_for_a_hostile_one(key: str):
    assert KeywordMatcher([Keyword(key)]).problems == {}


def test_an_expression_that_never_ends_is_stopped_left_out_and_reported():
    keywords = KeywordMatcher([Keyword(r"/^(a|aa|a?)+$/"), Keyword("/b/")])
    text = "a" * 60 + "b"

    start = time.thread_time()
    first = keywords.find([text, "no"])
    taken = time.thread_time() - start

    assert first == [{1}, set()]
    assert taken < 1
    assert "too long" in keywords.problems[0]
    assert keywords.find(["aaa"]) == [set()]


def test_an_expression_that_fails_in_an_older_message_counts_in_none():
    keywords = KeywordMatcher([Keyword(r"/^(a|aa|a?)+$/")])

    assert keywords.find(["aaa"]) == [{0}]
    assert keywords.find(["aaa", "a" * 60 + "b"]) == [set(), set()]


def test_a_hundred_expressions_that_never_end_do_not_take_a_hundred_times_as_long():
    keywords = KeywordMatcher([Keyword(f"/^(a|aa|a?)+$|{number}z/") for number in range(100)] + [Keyword("king")])

    start = time.thread_time()
    (result, *_) = keywords.find(["a" * 60 + "b king"] * 20)
    taken = time.thread_time() - start

    assert result == {100}
    assert taken < PATTERNS_SECONDS * 4
    assert len(keywords.problems) == 100


def test_expressions_that_came_too_late_are_tried_again_in_the_next_search():
    hostile = [Keyword(f"/^(a|aa|a?)+$|{number}z/") for number in range(7)]
    keywords = KeywordMatcher([*hostile, Keyword("/king/")])
    text = "a" * 60 + "b king"

    for _ in range(8):
        (result,) = keywords.find([text])

    assert result == {7}
    assert 7 not in keywords.problems


@quick
@given(st.text(st.sampled_from(r"ab(|)[]{}0123,*+?\^$.:<>=!-/kuPdwx'#&~"), max_size=20), st.text("ab01 (", max_size=20))
def test_no_expression_whatsoever_raises_anything(pattern: str, text: str):
    keywords = KeywordMatcher([Keyword(f"/{pattern}/"), Keyword(pattern)])

    assert len(keywords.find([text, pattern])) == 2
