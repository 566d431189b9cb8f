"""A plain float64 BERT in numpy, straight from the published F32 weights: what the converted embedder is measured against.

It shares no code with the converter or the engine. `python -m tests.llm.reference_bert` writes the stored vectors anew.
"""

from __future__ import annotations

import json
import math
import re
import struct
import sys
from pathlib import Path

import numpy as np

from lethe_app.llm.models.bundled import embedder_folder

SENTENCES = (
    "The lighthouse keeper counted the ships until the fog came in.",
    "She never told me why she left the city that winter!",
    "I prefer green tea, but coffee is fine when it rains.",
    "Quantum chromodynamics describes the strong interaction between quarks and gluons.",
    "My grandmother's recipe: 3 eggs, 200 g of sugar, and patience.",
)
STORED = Path(__file__).parents[2] / "resources" / "starter_reference.json"
_ERF = np.vectorize(math.erf, otypes=[np.float64])


class ReferenceBert:
    """Embeds English text: WordPiece, six encoder layers, mean over all tokens, length 1."""

    def __init__(self, folder: Path) -> None:
        raw = (folder / "model.safetensors").read_bytes()
        (length,) = struct.unpack_from("<Q", raw)
        numbers = memoryview(raw)[8 + length :]
        self._tensors = {
            name: np.frombuffer(numbers[slice(*entry["data_offsets"])], "<f4").reshape(entry["shape"]).astype(np.float64)
            for name, entry in json.loads(raw[8 : 8 + length]).items()
            if name != "__metadata__" and entry["dtype"] == "F32"
        }
        config = json.loads((folder / "config.json").read_text("utf-8"))
        self._layers, self._heads = config["num_hidden_layers"], config["num_attention_heads"]
        self._epsilon = config["layer_norm_eps"]
        self._numbers = {word: index for index, word in enumerate((folder / "vocab.txt").read_text("utf-8").split("\n"))}

    def token_numbers(self, text: str) -> list[int]:
        """For plain English only: lower case, letters and digits are words, every other sign stands alone."""
        pieces = [piece for word in re.findall(r"[a-z0-9]+|[^\sa-z0-9]", text.lower()) for piece in self._pieces(word)]
        return [self._numbers[piece] for piece in ("[CLS]", *pieces, "[SEP]")]

    def _pieces(self, word: str) -> list[str]:
        """The longest known beginning, again and again."""
        found: list[str] = []
        while word:
            mark = "##" if found else ""
            end = next(end for end in range(len(word), 0, -1) if mark + word[:end] in self._numbers)
            found.append(mark + word[:end])
            word = word[end:]
        return found

    def embed(self, text: str) -> np.ndarray:
        numbers = self.token_numbers(text)
        hidden = (
            self._tensors["embeddings.word_embeddings.weight"][numbers]
            + self._tensors["embeddings.position_embeddings.weight"][: len(numbers)]
            + self._tensors["embeddings.token_type_embeddings.weight"][0]
        )
        hidden = self._norm(hidden, "embeddings.LayerNorm")
        for layer in range(self._layers):
            hidden = self._encode(hidden, f"encoder.layer.{layer}")
        mean = hidden.mean(axis=0)
        return mean / np.linalg.norm(mean)

    def _encode(self, hidden: np.ndarray, prefix: str) -> np.ndarray:
        attended = self._dense(self._attend(hidden, f"{prefix}.attention.self"), f"{prefix}.attention.output.dense")
        hidden = self._norm(hidden + attended, f"{prefix}.attention.output.LayerNorm")
        inner = self._dense(hidden, f"{prefix}.intermediate.dense")
        inner = inner * 0.5 * (1.0 + _ERF(inner / math.sqrt(2.0)))  # the exact GELU
        return self._norm(hidden + self._dense(inner, f"{prefix}.output.dense"), f"{prefix}.output.LayerNorm")

    def _attend(self, hidden: np.ndarray, prefix: str) -> np.ndarray:
        length, width = hidden.shape
        query, key, value = (
            self._dense(hidden, f"{prefix}.{name}").reshape(length, self._heads, -1).transpose(1, 0, 2)
            for name in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(width / self._heads)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        return (weights @ value).transpose(1, 0, 2).reshape(length, width)

    def _dense(self, values: np.ndarray, name: str) -> np.ndarray:
        return values @ self._tensors[f"{name}.weight"].T + self._tensors[f"{name}.bias"]

    def _norm(self, values: np.ndarray, name: str) -> np.ndarray:
        centred = values - values.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + self._epsilon)
        return scaled * self._tensors[f"{name}.weight"] + self._tensors[f"{name}.bias"]


def write() -> None:
    folder = embedder_folder()
    assert folder, "the starter embedder is not installed"
    model = ReferenceBert(folder)
    vectors = [[round(float(number), 5) for number in model.embed(sentence)] for sentence in SENTENCES]
    STORED.write_text(json.dumps({"sentences": SENTENCES, "vectors": vectors}) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(write())
