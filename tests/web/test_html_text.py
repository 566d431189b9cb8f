"""Of a page its words remain: in the right letters, without menus, links and what nobody can see."""

from __future__ import annotations

import asyncio
import threading

import pytest

from lethe_app.domain.web import sanitized
from lethe_app.web import html_text as text_module
from lethe_app.web.bounded_threads import MAX_THREADS, run_in_bounded_thread
from lethe_app.web.html_text import decode_body, extract_text, one_line, remove_links, truncate_to_tokens
from tests.web.server import SENTENCE, page


async def by_words(texts: list[str]) -> list[int]:
    return [len(text.split()) for text in texts]


@pytest.mark.parametrize(
    ("body", "charset", "expected"),
    [
        ("Käse".encode(), "", "Käse"),
        ("Käse".encode("cp1252"), "", "Käse"),
        ("Käse".encode("latin-1"), "iso-8859-1", "Käse"),
        ("“quoted”".encode("cp1252"), "iso-8859-1", "“quoted”"),
        ("сыр".encode("koi8-r"), "koi8-r", "сыр"),
        ("<meta charset=windows-1251>сыр".encode("cp1251"), "", "<meta charset=windows-1251>сыр"),
        ('<?xml encoding="shift_jis"?>チーズ'.encode("shift_jis"), "", '<?xml encoding="shift_jis"?>チーズ'),
        ("Käse".encode("utf-16"), "utf-8", "Käse"),
        ("Käse".encode("utf-8-sig"), "latin-1", "Käse"),
        ("Käse".encode(), "no-such-alphabet", "Käse"),
        ("Käse".encode(), "zlib", "Käse"),
        ("Käse".encode(), "unicode_escape", "Käse"),
        (b"<meta charset=utf-16>plain", "", "<meta charset=utf-16>plain"),
        ("Käse".encode("cp1252"), "utf-8", "Käse"),
        (b"x" * 500 + b"\xff" + b"y" * 500, "utf-8", "x" * 500 + "\ufffd" + "y" * 500),
    ],
)
def test_letters_come_right_whatever_the_server_claims(body: bytes, charset: str, expected: str):
    assert decode_body(body, charset) == expected


@pytest.mark.parametrize(
    ("hidden", "seen"),
    [
        ("pass\u200bword", "password"),
        ("a\u202egnirts\u202c b", "agnirts b"),
        ("hi\U000e0049\U000e0067\U000e006e\U000e006f\U000e0072\U000e0065", "hi"),
        ("x\ufe00\ufe0f\U000e0100\U000e01efy", "xy"),
        ("a\x00\x07\x1b[31mb", "a[31mb"),
        ("\ufeffstart\u2060\u00ad", "start"),
        ("one\u2028two\u2029three\x85four", "one\ntwo\nthree\nfour"),
        ("\ue000private\uf8ff", "private"),
        ("\u3164\u115f\u2800empty", "empty"),
        ("line  \r\n\r\n\r\n\r\n  next\u00a0\u2003word", "line\n\nnext word"),
    ],
)
def test_what_nobody_can_see_is_gone(hidden: str, seen: str):
    assert sanitized(hidden) == seen


def test_links_become_words():
    assert (
        remove_links("See [the list](https://evil.example/x?y=1) and ![](https://evil.example/p.png).") == "See the list and ."
    )
    assert remove_links("At https://www.example.org/a/b?c=d now") == "At example.org now"
    assert "base64" not in remove_links("data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==")


def test_one_line_is_bounded():
    assert one_line("a\n b\u200b  c", 20) == "a b c"
    assert one_line("word " * 100, 10) == "word word…"


async def test_the_main_text_comes_without_menu_and_script():
    source = page(head="<script>steal()</script><style>p{}</style>")
    words = await extract_text(source, "text/html", "utf-8")

    assert words.title == "The lighthouse"
    assert SENTENCE.strip() in words.text
    assert "Contact" not in words.text
    assert "steal" not in words.text
    assert not words.is_description


async def test_a_page_without_text_gives_what_its_head_says():
    head = '<meta name="description" content="All ships &amp; hours\u200b."><meta property="og:title" content="Ships">'
    words = await extract_text(page(body="", head=head), "text/html", "")

    assert (words.title, words.text, words.is_description) == ("Ships", "All ships & hours.", True)


async def test_a_long_plain_text_does_not_hold_up_the_loop():
    reading = asyncio.create_task(extract_text(("a\u0301 " * 600_000).encode(), "text/plain", "utf-8"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)

    assert not reading.done(), "it is made ready elsewhere"
    assert (await reading).text.startswith("á á")


async def test_plain_text_is_taken_as_it_is():
    words = await extract_text(b"<b>no tags here</b>\r\nline", "text/plain", "")

    assert words.text == "<b>no tags here</b>\nline"


@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"<",
        b"<html",
        b"\x00\xff" * 500,
        b"<div>" * 20_000,
        b"<!--" * 5_000,
        b"<![CDATA[" * 200,
        b"<p>" + b"&#x0;&#xD800;&#1114112;" * 50,
        b"<title>" + b"a" * 200_000,
        b"<?xml version='1.0' encoding='utf-8'?><html xmlns='http://www.w3.org/1999/xhtml'><body><p>x</p></body></html>",
        b"<table>" + b"<tr><td>" * 3_000,
        b"<!DOCTYPE lol [<!ENTITY a 'x'><!ENTITY b '&a;&a;&a;&a;'>]><html><body>&b;</body></html>",
        b"<!DOCTYPE x [<!ENTITY f SYSTEM 'file:///etc/hostname'>]><html><body><p>&f; is a word here</p></body></html>",
    ],
    ids=range(13),
)
async def test_the_worst_page_harms_nobody(source: bytes):
    words = await extract_text(source, "text/html", "")

    assert len(words.text) <= text_module.MAX_TEXT_LENGTH
    assert "\0" not in words.text


async def test_text_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch):
    free = threading.Event()
    monkeypatch.setattr(text_module, "main_text", lambda _source: free.wait() and "late")
    head = '<meta name="description" content="In short.">'
    words = await extract_text(page(head=head), "text/html", "", seconds=0.05)
    free.set()

    assert (words.text, words.is_description) == ("In short.", True)


async def test_threads_that_do_not_come_back_never_grow_into_a_crowd():
    free = threading.Event()
    for _ in range(MAX_THREADS):
        with pytest.raises(TimeoutError):
            await run_in_bounded_thread(free.wait, 0.01)
    begun = threading.Event()
    with pytest.raises(TimeoutError):
        await run_in_bounded_thread(begun.set, 10)
    free.set()

    assert not begun.is_set()
    while True:  # they come back, and others may work again
        try:
            assert await run_in_bounded_thread(lambda: 7, 10) == 7
            break
        except TimeoutError:
            await asyncio.sleep(0.001)


async def test_a_thread_may_be_cancelled():
    free = threading.Event()
    task = asyncio.ensure_future(run_in_bounded_thread(free.wait, 10))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    free.set()


async def test_what_fails_in_a_thread_is_raised_outside():
    def work() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        await run_in_bounded_thread(work, 10)


async def test_a_text_is_cut_after_a_paragraph_a_sentence_or_a_word():
    text = "One two three.\nFour five six. Seven eight nine.\nTen."

    assert await truncate_to_tokens(text, 100, by_words) == (text, False)
    assert await truncate_to_tokens(text, 10, by_words) == (text, False)
    assert await truncate_to_tokens(text, 9, by_words) == ("One two three.\nFour five six. Seven eight nine.", True)
    assert await truncate_to_tokens(text, 7, by_words) == ("One two three.\nFour five six.", True)
    assert await truncate_to_tokens("one two three four", 2, by_words) == ("one two", True)
    assert await truncate_to_tokens("one", 0, by_words) == ("", True)
