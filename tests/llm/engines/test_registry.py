"""Every kind of engine can do what it declares, and no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from lethe_app.domain.model import LoadOptions
from lethe_app.errors import ModelError
from lethe_app.llm.client import ModelClient
from lethe_app.llm.engines.engine import EmbedsTexts, GeneratesText, ReturnsLogits, SavesCacheState
from lethe_app.llm.engines.registry import ENGINE_KINDS, kind_name
from lethe_app.llm.models import bundled
from lethe_app.llm.models.gguf_model import describe_model


@pytest.mark.parametrize("name", ENGINE_KINDS)
def test_a_kind_declares_what_its_engine_implements(name: str):
    kind = ENGINE_KINDS[name]
    engine = kind.create_engine()

    assert kind.capabilities.generates_text == isinstance(engine, GeneratesText)
    assert kind.capabilities.embeds_texts == isinstance(engine, EmbedsTexts)
    assert kind.capabilities.has_kv_cache == isinstance(engine, SavesCacheState)
    assert kind.capabilities.returns_logits == isinstance(engine, ReturnsLogits)


def test_the_kind_follows_from_the_file_and_the_purpose():
    assert kind_name(Path("model.gguf")) == "llama"
    assert kind_name(Path("model.gguf"), embeds_texts=True) == "embed"
    assert kind_name(Path("replies.json")) == "echo"


async def test_a_loaded_model_tells_what_its_engine_can_do():
    client = ModelClient(embeds_texts=True)
    try:
        model = await client.load(describe_model(bundled.embedding_model()), LoadOptions(), lambda _fraction: None)

        assert model.capabilities == ENGINE_KINDS["embed"].capabilities
        with pytest.raises(ModelError, match="generates no text"):
            await client.prefill("Once")
        with pytest.raises(ModelError, match="generates no text"):
            await client.score_next_tokens("Once", 3)
    finally:
        await client.close()
