"""Messages that cross the pipe between the main process and a model's worker process: frozen, picklable values only."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Generic, TypeVar

from lethe_app.domain.model import LoadOptions, ModelFacts, ModelFile, NextWords, SamplingStep, Usage
from lethe_app.domain.passage import TextEmbedding
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
    """Number of the last `DeleteStates` before the prompt was built; text deleted by later ones may be in the prompt. None
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
class SaveState(Request[None]):
    """Save the KV-cache state of the open session to its file."""

    min_new_tokens: int
    """Minimum number of tokens that must be new since the last save; with fewer nothing is written."""
    closing: bool = False
    """True when the program is closing: the job runs with chat priority, and the answer comes only when the file is written
    or the job was stopped.
    """


@dataclass(frozen=True)
class DeleteStates(Request[None]):
    """Delete the saved states in a folder whose names contain `name_part`, queued ones included.

    The KV cache itself is not changed. It is saved again only after the prompt was recomputed without reused runs.
    """

    folder: Path
    name_part: str
    """Substring of the state names; empty for all states."""
    deletion_number: int | None = None
    """Sequence number of the deletion, higher than the previous one; None for the next number."""


@dataclass(frozen=True)
class Tokenize(Request[list[int]]):
    """Count the tokens of each text, in order, control tokens recognised."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class ScoreNextTokens(Request[NextWords]):
    """Return the most likely next tokens after `prompt` with logits, as background work; none if it was stopped."""

    prompt: str
    limit: int
    """Number of tokens listed one by one."""


@dataclass(frozen=True)
class PreviewSampling(Request[tuple[SamplingStep, ...]]):
    """Return the probabilities of the candidates for a token before the samplers of a preset and after each; needs no model."""

    preset: SamplerPreset
    candidates: NextWords


@dataclass(frozen=True)
class Embed(Request[list[bytes]]):
    """Compute one embedding per text, in order: unit vectors of float32 in native byte order."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class EmbedTokens(Request[list[TextEmbedding]]):
    """Compute the embedding of each text, in order, and of each of its tokens."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class ReleaseBackground(Request[None]):
    """Free the context of background jobs, which the next such job creates again; queued among them."""


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
