"""Messages that cross the pipe between the main process and a model's worker process: frozen, picklable values only."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Generic, TypeVar

from lethe_app.domain.model import LoadOptions, ModelFacts, ModelFile, Usage
from lethe_app.domain.presets import SamplerPreset
from lethe_app.llm.kv_cache.reuse import DEFAULT_OPTIONS, ReuseOptions

Value = TypeVar("Value")

# To the worker


@dataclass(frozen=True)
class StateLocation:
    """Location of a session's saved KV-cache state; it is passed along with every prompt of that session."""

    folder: Path
    name: str
    """File name of the session's state without suffix; states are deleted by a part that several names share."""
    limit: int
    """Size limit of the folder in bytes."""
    last_deletion: int | None = None
    """Number of the last deletion of states before the prompt was built; text deleted by later ones may be in the prompt. None
    means that no deletion so far concerns the prompt.
    """


class RequestPriority(StrEnum):
    """Priority of a request: CHAT if the user waits for the answer, BACKGROUND if nobody does."""

    CHAT = "chat"
    """Request of the open session: it runs before all background work, and no background job touches its KV cache."""
    BACKGROUND = "background"
    """Background work in a context of its own on the same weights; it ends at once when a chat request arrives."""


@dataclass(frozen=True)
class Request(Generic[Value]):
    """Request to the worker, answered by `Answer` with a value of the type in brackets, or by `JobFailed`."""

    job: int


@dataclass(frozen=True)
class Load(Request[ModelFacts]):
    """Load a model; `LoadProgress` comes before the answer."""

    file: ModelFile
    options: LoadOptions


@dataclass(frozen=True)
class Generate(Request[None]):
    """Continue `prompt`; answered by `PrefillProgress`, `Chunk` and then `Done` or `JobFailed`."""

    prompt: str
    sampler: SamplerPreset
    max_tokens: int
    stop: tuple[str, ...] = ()
    grammar: str = ""
    """GBNF with a rule `root`; empty for free text."""
    schema: str = ""
    """A JSON schema as text, which the worker converts to a grammar; empty for free text."""
    priority: RequestPriority = RequestPriority.CHAT
    reuse: ReuseOptions = DEFAULT_OPTIONS
    state_location: StateLocation | None = None
    """Where the KV-cache state is saved; None if neither this prompt nor anything cached with it may be saved."""


@dataclass(frozen=True)
class Prefill(Request[Usage]):
    """Prefill the beginning of an expected prompt; the answer says how many tokens were evaluated."""

    prompt: str
    reuse: ReuseOptions = DEFAULT_OPTIONS
    state_location: StateLocation | None = None


@dataclass(frozen=True)
class Call(Request[Value]):
    """Call another method of the engine; the answer is what it returns."""

    method: str
    arguments: tuple[Any, ...] = ()
    priority: RequestPriority = RequestPriority.CHAT


@dataclass(frozen=True)
class StopRequest(Request[None]):
    """Stop a job now; its last report still comes."""


# From the worker


@dataclass(frozen=True)
class WorkerReport:
    """Report of the worker about a job."""

    job: int


@dataclass(frozen=True)
class LoadProgress(WorkerReport):
    """Share of the weights loaded so far, from 0 to 1."""

    fraction: float


@dataclass(frozen=True)
class PrefillProgress(WorkerReport):
    """Prompt tokens evaluated so far, out of those that were not reused from the KV cache."""

    done: int
    total: int


@dataclass(frozen=True)
class Chunk(WorkerReport):
    """Next piece of the reply, made of whole characters only."""

    text: str


@dataclass(frozen=True)
class Done(WorkerReport):
    """Last report of a reply."""

    usage: Usage


@dataclass(frozen=True)
class Answer(WorkerReport, Generic[Value]):
    """Last report of any other job."""

    value: Value


@dataclass(frozen=True)
class JobFailed(WorkerReport):
    """Report of a job that raised an error; `kind` is the name of an error class of `errors.py`."""

    kind: str
    message: str
    remedy: str = ""
