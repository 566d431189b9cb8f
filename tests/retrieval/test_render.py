"""What happens in a chat becomes short texts that lose nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from lethe_app.domain.passage import PassageKind
from lethe_app.retrieval import render

WHEN = datetime(2026, 5, 9, tzinfo=UTC)
SESSION, MESSAGE = uuid4(), uuid4()


def test_a_message_says_who_said_it():
    (said,) = render.message("mara", SESSION, MESSAGE, 4, "Tomas", "Hello there.", WHEN)

    assert (said.text, said.speaker, said.place) == ('Tomas said, "Hello there."', "Tomas", 4)
    assert (said.source, said.origin) == (SESSION, MESSAGE)
    assert said.searched == '(9 May, 2026) Tomas said, "Hello there."'
    assert render.embedded(said) == said.searched


def test_a_summary_becomes_its_sentences():
    text = "They met at 5 p.m. on the pier. Tomas was late! Mara laughed.\nLater: tea."

    sentences = render.summary("mara", SESSION, text, WHEN)

    assert [sentence.text for sentence in sentences] == [
        "They met at 5 p.m. on the pier.", "Tomas was late!", "Mara laughed.", "Later: tea.",
    ]  # fmt: skip
    assert {sentence.kind for sentence in sentences} == {PassageKind.SENTENCE}
    assert render.embedded(sentences[0]) == sentences[0].text


def test_nothing_said_is_no_passage():
    assert render.message("mara", SESSION, MESSAGE, 0, "Tomas", " \n", WHEN) == []
    assert render.summary("mara", SESSION, "", WHEN) == []


@given(st.text(alphabet="ab .!?\n。", max_size=3000))
def test_pieces_are_short_and_lose_no_word(text: str):
    pieces = render.pieces(text)

    assert all(0 < len(piece) <= render.LONGEST for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())
