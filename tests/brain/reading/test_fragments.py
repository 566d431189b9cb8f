"""What people leave out of a statement about themselves, alone and as an answer."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from lethe_app.brain.reading.extractor import extract_statements
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role

WHEN = datetime(2026, 3, 4, 20, tzinfo=UTC)


def learnt(*texts: str) -> list[str]:
    """Return what the last message tells; the messages alternate and end with the user's."""
    roles = [Role.USER if place % 2 == 0 else Role.ASSISTANT for place in range(len(texts))][::-1]
    lines = [
        Utterance(uuid4(), role, "Ana" if role is Role.USER else "Nora", text, WHEN)
        for role, text in zip(roles, texts, strict=True)
    ]
    return [one.text for one in extract_statements(lines) if lines[-1].id in one.message_ids]


@pytest.mark.parametrize(
    ("question", "answer"),
    [("What do you play?", "nothing"), ("How is Beth?", "moved to leeds in june"), ("How old is Aoife?", "31")],
)
def test_an_evasion_or_an_answer_about_somebody_else_says_nothing_of_the_speaker(question: str, answer: str) -> None:
    assert not any(one.startswith("Ana ") for one in learnt(question, answer))
