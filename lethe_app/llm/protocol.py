"""Messages that cross the pipe between the main process and a model's worker process: frozen, picklable values only."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lethe_app.domain.model import LoadOptions, ModelFile, NextWords, SamplingStep, Usage
from lethe_app.domain.passage import TextEmbedding
from lethe_app.domain.presets import SamplerPreset
from lethe_app.llm.kv_cache.diff import MIN_RUN_LENGTH

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
class Load:
    """Load a model; answered by `LoadProgress` and then `Loaded` or `JobFailed`."""

    job: int
    file: ModelFile
    options: LoadOptions


@dataclass(frozen=True)
class Generate:
    """Continue `prompt`; answered by `PrefillProgress`, `Chunk` and then `Done` or `JobFailed`."""

    job: int
    prompt: str
    sampler: SamplerPreset
    max_tokens: int
    stop: tuple[str, ...] = ()
    grammar: str = ""
    """GBNF with a rule `root`; empty for free text."""
    schema: str = ""
    """A JSON schema as text, which the worker converts to a grammar; empty for free text."""
    priority: RequestPriority = RequestPriority.CHAT
    surgery: bool = True
    """Reuse cached runs after text that was removed from or inserted into the prompt; if False, only the common prefix
    is reused.
    """
    min_run_length: int = MIN_RUN_LENGTH
    """Minimum length, in tokens, of a run reused after an edit; shorter ones are recomputed, which is exact."""
    state_location: StateLocation | None = None
    """Where the KV-cache state is saved; None if neither this prompt nor anything cached with it may be saved."""


@dataclass(frozen=True)
class Prefill:
    """Prefill the beginning of an expected prompt; answered by `Done`, whose usage says how many tokens were evaluated."""

    job: int
    prompt: str
    surgery: bool = True
    min_run_length: int = MIN_RUN_LENGTH
    exact: bool = False
    """Recompute everything after the first seam of the cache, so that no reused edit remains; a stop leaves the rest as it
    was.
    """
    state_location: StateLocation | None = None


@dataclass(frozen=True)
class SaveState:
    """Save the KV-cache state of the open session to its file; answered by `Done`."""

    job: int
    min_new_tokens: int
    """Minimum number of tokens that must be new since the last save; with fewer nothing is written."""
    closing: bool = False
    """True when the program is closing: the job runs with chat priority, and `Done` comes only when the file is written or
    the job was stopped.
    """


@dataclass(frozen=True)
class DeleteStates:
    """Delete the saved states in a folder whose names contain `name_part`, queued ones included; answered by `Done`.

    The KV cache itself is not changed. It is saved again only after the prompt was recomputed without reused runs.
    """

    job: int
    folder: Path
    name_part: str
    """Substring of the state names; empty for all states."""
    deletion_number: int | None = None
    """Sequence number of the deletion, higher than the previous one; None for the next number."""


@dataclass(frozen=True)
class Tokenize:
    """Count the tokens of each text, control tokens recognised; answered by `TokensCounted`."""

    job: int
    texts: tuple[str, ...]


@dataclass(frozen=True)
class ScoreNextTokens:
    """Return the most likely next tokens after `prompt` with logits, as background work; answered by `NextTokenScores`."""

    job: int
    prompt: str
    limit: int
    """Number of tokens listed one by one."""


@dataclass(frozen=True)
class PreviewSampling:
    """Apply the samplers of a preset to the candidates for a token; needs no model and is answered by `SamplingPreviewed`."""

    job: int
    preset: SamplerPreset
    candidates: NextWords


@dataclass(frozen=True)
class Embed:
    """Compute one embedding per text; answered by `Embedded`."""

    job: int
    texts: tuple[str, ...]


@dataclass(frozen=True)
class EmbedTokens:
    """Compute the embedding of each text and of each of its tokens; answered by `TokensEmbedded`."""

    job: int
    texts: tuple[str, ...]


@dataclass(frozen=True)
class ReleaseBackground:
    """Free the context of background jobs, which the next such job creates again; queued among them and answered by `Done`."""

    job: int


@dataclass(frozen=True)
class StopRequest:
    """Stop a job now; its `Done` still comes."""

    job: int


Request = (
    Load
    | Generate
    | Prefill
    | SaveState
    | DeleteStates
    | Tokenize
    | ScoreNextTokens
    | PreviewSampling
    | Embed
    | EmbedTokens
    | ReleaseBackground
    | StopRequest
)

# From the worker


@dataclass(frozen=True)
class LoadProgress:
    """Share of the weights loaded so far, from 0 to 1."""

    job: int
    fraction: float


@dataclass(frozen=True)
class ModelFacts:
    """Properties of a loaded model; the field names are those of `domain.model.LoadedModel`, which is built from them."""

    context: int
    threads: int
    template: str
    bos: str
    eos: str
    adds_bos: bool
    control_tokens: tuple[str, ...]
    end_tokens: tuple[str, ...]
    can_rewind: bool
    can_shift: bool


@dataclass(frozen=True)
class Loaded:
    """Answer to `Load`: the model is ready for requests."""

    job: int
    facts: ModelFacts


@dataclass(frozen=True)
class PrefillProgress:
    """Prompt tokens evaluated so far, out of those that were not reused from the KV cache."""

    job: int
    done: int
    total: int


@dataclass(frozen=True)
class Chunk:
    """Next piece of the reply, made of whole characters only."""

    job: int
    text: str


@dataclass(frozen=True)
class Done:
    """Last report of a job that has no result of its own."""

    job: int
    usage: Usage


@dataclass(frozen=True)
class TokensCounted:
    """Answer to `Tokenize`: one count per text, in the order of the request."""

    job: int
    counts: tuple[int, ...]


@dataclass(frozen=True)
class NextTokenScores:
    """Answer to `ScoreNextTokens`; without any word if the job was stopped or preempted."""

    job: int
    words: NextWords


@dataclass(frozen=True)
class SamplingPreviewed:
    """Answer to `PreviewSampling`: the probabilities before the samplers and after each of them."""

    job: int
    steps: tuple[SamplingStep, ...]


@dataclass(frozen=True)
class Embedded:
    """Answer to `Embed`, in the order of the request: unit vectors of float32 in native byte order."""

    job: int
    vectors: tuple[bytes, ...]


@dataclass(frozen=True)
class TokensEmbedded:
    """Answer to `EmbedTokens`, in the order of the request."""

    job: int
    embeddings: tuple[TextEmbedding, ...]


@dataclass(frozen=True)
class JobFailed:
    """Report of a job that raised an error; `kind` is the name of an error class of `errors.py`."""

    job: int
    kind: str
    message: str
    remedy: str = ""


Report = (
    LoadProgress
    | Loaded
    | PrefillProgress
    | Chunk
    | Done
    | TokensCounted
    | NextTokenScores
    | SamplingPreviewed
    | Embedded
    | TokensEmbedded
    | JobFailed
)


@dataclass(frozen=True)
class WorkerDied:
    """End of the worker process, created by the client's reader thread when the pipe ends."""

    exit_code: int | None = None
