"""Interface between the worker process and an inference engine, and what only some engines can do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from lethe_app.domain.model import LoadOptions, ModelFacts, ModelFile, NextWords, Usage
from lethe_app.domain.passage import TextEmbedding
from lethe_app.llm.protocol import Generate, Prefill


class StopFlag(Protocol):
    """Flag that another thread sets when the running job must end."""

    def is_set(self) -> bool: ...

    def set(self) -> None: ...

    def clear(self) -> None: ...


class Engine(Protocol):
    """Engine with one loaded model. All methods are called from one thread; only `stop` is used by another."""

    @property
    def stop(self) -> StopFlag: ...

    def load(self, file: ModelFile, options: LoadOptions, progress: Callable[[float], None]) -> ModelFacts:
        """Load the model and create a context. Raise ModelError."""
        ...

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, control tokens recognised."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class GeneratesText(Protocol):
    """Engine that continues a prompt; embedding engines cannot."""

    def generate(self, job: Generate, on_prefill: Callable[[int, int], None], on_text: Callable[[str], None]) -> Usage:
        """Evaluate the prompt, then pass the reply to `on_text` piece by piece until it ends; the stop flag is checked
        throughout.

        Background jobs do not change the KV cache that the next chat job finds.
        """
        ...

    def prefill(self, job: Prefill) -> Usage:
        """Prefill a prompt before it is needed; if `stop` is set it ends early and leaves a consistent cache."""
        ...

    def prepare_next_turn(self) -> None:
        """Do what shortens the next turn; called after a reply, when nobody waits for a result."""
        ...

    def free_background_context(self) -> None:
        """Free what only background jobs need; the next one creates it again."""
        ...


@runtime_checkable
class EmbedsTexts(Protocol):
    """Engine that returns embeddings; chat engines cannot."""

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return one unit vector of float32 in native byte order per text."""
        ...

    def embed_tokens(self, texts: Sequence[str]) -> list[TextEmbedding]:
        """Return one unit vector per text and one vector per token, from one pass of the model."""
        ...


@runtime_checkable
class ReturnsLogits(Protocol):
    """Engine that returns the logits of the next token."""

    def score_next_tokens(self, prompt: str, limit: int) -> NextWords:
        """Return the most likely next tokens after `prompt`, `limit` of them one by one, as background work; empty if
        stopped.
        """
        ...


@runtime_checkable
class SavesCacheState(Protocol):
    """Engine that saves and restores the KV cache per session."""

    def save_state(self, min_new_tokens: int, is_closing: bool = False) -> None:
        """Save the KV-cache state of the open session if at least `min_new_tokens` tokens are new since the last save; ends
        early when `stop` is set. When the program is closing, return only when the file is written.
        """
        ...

    def delete_states(self, folder: Path, name_part: str, deletion_number: int | None = None) -> None:
        """Delete the saved states in a folder whose names contain `name_part`, queued ones included; an empty one means all.
        `deletion_number` is higher than the previous one; None is the next. May be called from another thread.

        The KV cache itself is not changed. It is saved again only after the prompt was recomputed without reused runs.
        """
        ...
