"""Writes `resources/facts/words.npz`: small vectors of the words of the shipped embedder and of the labelled chats.

Each word is embedded alone; what all words share is taken off, and the rest is turned to its principal components. A word is
the shorter the more sentences of the chats it occurs in. It takes some minutes, and only a new embedder or new chats need it.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
from gguf import GGUFReader

from lethe_app.brain.reading.sentence_features import lowercase_words
from lethe_app.domain.model import LoadOptions
from lethe_app.llm.engines.llama_embedding import EmbeddingEngine
from lethe_app.llm.models import bundled
from lethe_app.retrieval import word_vectors
from tests.bench.fit_facts import sentences
from tests.llm.model_files import file_at

SIZE = 32
OFTEN = 100
"""A word in a hundredth of all sentences counts half."""
LARGEST = 127
BATCH = 128
_WORD = re.compile(r"[a-z']{2,}")
_BEGINS_WORD = "▁"


def vocabulary(model: Path) -> set[str]:
    """The whole English words among the tokens of an embedder."""
    field = GGUFReader(model).fields["tokenizer.ggml.tokens"]
    tokens = (bytes(field.parts[place]).decode("utf-8", "replace") for place in field.data)
    words = (token.removeprefix(_BEGINS_WORD).lower() for token in tokens if token.startswith(_BEGINS_WORD))
    return {word for word in words if _WORD.fullmatch(word)}


def main() -> None:
    """Embed, reduce and write."""
    seen = Counter(word for text in sentences() for word in set(lowercase_words(text)) if _WORD.fullmatch(word))
    count = sum(1 for _ in sentences())
    model = bundled.embedding_model()
    words = sorted(vocabulary(model) | set(seen))
    engine = EmbeddingEngine()
    engine.load(file_at(model), LoadOptions(), lambda _share: None)
    raw = [row for start in range(0, len(words), BATCH) for row in engine.embed(words[start : start + BATCH])]
    engine.close()
    vectors = np.array([np.frombuffer(row, np.float32) for row in raw])
    vectors -= vectors.mean(axis=0)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    _values, directions = np.linalg.eigh(vectors.T @ vectors)
    small = vectors @ directions[:, : -SIZE - 1 : -1]
    small /= np.array([1 + OFTEN * seen[word] / count for word in words])[:, None]
    packed = np.round(small / np.abs(small).max() * LARGEST).astype(np.int8)
    np.savez_compressed(word_vectors.FILE, words=np.frombuffer("\n".join(words).encode(), np.uint8), vectors=packed)


if __name__ == "__main__":
    main()
