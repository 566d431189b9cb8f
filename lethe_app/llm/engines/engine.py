"""What a worker process needs of whatever computes inside it: llama.cpp in earnest, a scripted echo in tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from lethe_app.domain.model import LoadOptions, NextWords, Usage
from lethe_app.domain.passage import TextEmbedding
from lethe_app.llm.protocol import Forget, Generate, Keep, ModelFacts, ReadAhead, Weigh


class StopFlag(Protocol):
    """Set from another thread when the running job must end."""

    def is_set(self) -> bool: ...

    def set(self) -> None: ...

    def clear(self) -> None: ...


class Engine(Protocol):
    """One loaded model. All methods are called from one thread; only `stop` is touched by another."""

    @property
    def stop(self) -> StopFlag: ...

    def load(self, path: Path, options: LoadOptions, progress: Callable[[float], None]) -> ModelFacts:
        """Load the weights and make a context; raises a ModelError."""
        ...

    def count(self, text: str) -> int:
        """Tokens of `text`, control tokens recognised."""
        ...

    def generate(self, job: Generate, reading: Callable[[int, int], None], say: Callable[[str], None]) -> Usage:
        """Evaluate the prompt, then say pieces until the end; looks at `stop` all the while.

        Quiet jobs leave no trace in what the next chat job finds.
        """
        ...

    def read_ahead(self, job: ReadAhead) -> Usage:
        """Evaluate a prompt that nobody waits for yet; ends early, consistently, when `stop` is set."""
        ...

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """A unit vector of float32 per text, from a model that was loaded for it."""
        ...

    def embed_tokens(self, texts: Sequence[str]) -> list[TextEmbedding]:
        """The same, and a vector per token, in one pass."""
        ...

    def prepare_next_turn(self) -> None:
        """Do what makes the next turn shorter, now that nobody waits for this one."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class HasBackgroundContext(Protocol):
    """An engine that keeps something apart for quiet jobs; an embedder does not."""

    def rest(self) -> None:
        """Give it back; the next quiet job makes it anew."""
        ...


@runtime_checkable
class WeighsWords(Protocol):
    """An engine that says how likely each next word is; an embedder has none."""

    def weigh(self, job: Weigh) -> NextWords:
        """Quiet work; nothing where it was stopped."""
        ...


@runtime_checkable
class KeepsConversations(Protocol):
    """An engine that takes up a conversation where it left it; an embedder has none."""

    def save_state(self, job: Keep) -> None:
        """Write what the chat has read; ends early when `stop` is set."""
        ...

    def delete_states(self, job: Forget) -> None:
        """Delete what was kept. May be called from another thread."""
        ...
