"""She remembers from the first conversation on, and keeps quiet where nothing is meant."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from lethe_app.retrieval import passage_builder
from lethe_app.retrieval.embedding_geometry import Embed
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.storage.index.passages import Passages
from tests.retrieval.conftest import embed, sure_hits

AT = datetime(2026, 6, 5, 18, tzinfo=UTC)
TALK = [
    ("Tomas", "Keep the cook's cake away from me, I'm allergic to walnuts."),
    ("Mira", "No walnuts for you, then. I will tell him."),
    ("Tomas", "My grandmother still lives in the keeper's cottage on Skerry Point."),
    ("Mira", "Then somebody there still knows the rocks by name."),
    ("Tomas", "I have been restoring an old dinghy since spring."),
    ("Mira", "Clinker built, I hope."),
]


async def remembering(passages: Passages, by: Embed | None) -> tuple[MemoryIndex, UUID]:
    """One session of six lines, four days ago."""
    recall, session = MemoryIndex(passages, by, "toy" if by else ""), uuid4()
    for place, (name, text) in enumerate(TALK):
        await recall.replace(
            [], passage_builder.message_passages("mira", session, uuid4(), place, name, text, AT - timedelta(days=4))
        )
    while await recall.embed_pending():
        pass
    return recall, session


@pytest.mark.parametrize("by", [embed, None], ids=["by meaning", "by words"])
@pytest.mark.parametrize("text", ["Where does my grandmother live?", "Was it a dinghy that I was restoring?"])
async def test_six_lines_are_enough_to_be_reminded(passages: Passages, by: Embed | None, text: str):
    recall, session = await remembering(passages, by)

    found = await recall.search(["mira"], text, at=AT)

    assert [hit.source for hit in sure_hits(found)] == [session]


@pytest.mark.parametrize("by", [embed, None], ids=["by meaning", "by words"])
@pytest.mark.parametrize("text", ["haha ok", "Good morning, Mira!", "What colour is my car?"])
async def test_six_lines_are_not_brought_up_where_they_are_not_meant(passages: Passages, by: Embed | None, text: str):
    recall, _session = await remembering(passages, by)

    found = await recall.search(["mira"], text, at=AT)

    assert sure_hits(found) == []
