"""What happens in a chat becomes short texts that lose nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from lethe_app.domain.passage import PassageKind
from lethe_app.retrieval import passage_builder

WHEN = datetime(2026, 5, 9, tzinfo=UTC)
SESSION, MESSAGE = uuid4(), uuid4()


def test_a_message_says_who_said_it():
    (said,) = passage_builder.message_passages("mara", SESSION, MESSAGE, 4, "Tomas", "Hello there.", WHEN)

    assert (said.text, said.speaker, said.position) == ('Tomas said, "Hello there."', "Tomas", 4)
    assert (said.source, said.origin) == (SESSION, MESSAGE)
    assert said.searched == '(9 may, 2026) tomas said, "hello there."'
    assert passage_builder.embedding_text(said) == '(9 May, 2026) Tomas said, "Hello there."'


def test_a_summary_becomes_its_sentences():
    text = "They met at 5 p.m. on the pier. Tomas was late! Mara laughed.\nLater: tea."

    sentences = passage_builder.summary_passages("mara", SESSION, text, WHEN)

    assert [sentence.text for sentence in sentences] == [
        "They met at 5 p.m. on the pier.", "Tomas was late!", "Mara laughed.", "Later: tea.",
    ]  # fmt: skip
    assert {sentence.kind for sentence in sentences} == {PassageKind.SENTENCE}
    assert passage_builder.embedding_text(sentences[0]) == sentences[0].text


def test_nothing_said_is_no_passage():
    assert passage_builder.message_passages("mara", SESSION, MESSAGE, 0, "Tomas", " \n", WHEN) == []
    assert passage_builder.summary_passages("mara", SESSION, "", WHEN) == []


@given(st.text(alphabet="ab .!?\n。", max_size=3000))
def test_pieces_are_short_and_lose_no_word(text: str):
    pieces = passage_builder.split_text(text)

    assert all(0 < len(piece) <= passage_builder.MAX_LENGTH for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())


def test_a_piece_of_several_lines_keeps_them_apart():
    line = "The oven is lit at three, and the salt is weighed on a brass scale."
    text = "\n\n".join(["Handbook", *[line] * 20])

    pieces = passage_builder.split_text(text)

    assert len(pieces) > 1
    assert "\n".join(pieces).split("\n") == ["Handbook", *[line] * 20]
    wrapped = passage_builder.split_text("\n".join(["Handbook\n", *[line.replace(" the salt", "\nthe salt")] * 20]))
    assert wrapped == pieces, "lines that were only wrapped flow on"
