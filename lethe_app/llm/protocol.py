"""What crosses the pipe between the program and the process that holds a model: plain frozen values, nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lethe_app.domain.model import LoadOptions, NextWords, Usage
from lethe_app.domain.passage import TextEmbedding
from lethe_app.domain.presets import SamplerPreset
from lethe_app.llm.kv_cache.diff import SHORTEST

# To the worker


@dataclass(frozen=True)
class KeptAt:
    """Where what was read of a conversation is kept for the next time; it goes with all that is read of it."""

    folder: Path
    name: str
    """Of the conversation; many may be forgotten by a part that their names share."""
    limit: int
    """Bytes that the folder may hold."""
    known: int | None = None
    """The number of the last `Forget` when the prompt was begun, which those after it may concern; None is all there were."""


class RequestPriority(StrEnum):
    """Whether somebody waits for the answer."""

    CHAT = "chat"
    """The conversation: it goes before all quiet work, and its KV cache is touched by nothing else."""
    QUIET = "quiet"
    """Background work, in a context of its own on the same weights; ends at once when the chat wants the model."""


@dataclass(frozen=True)
class Load:
    """Load this model; answered by `LoadProgress` and then `Loaded` or `JobFailed`."""

    job: int
    path: Path
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
    """A JSON schema as text, which the worker turns into a grammar; empty for free text."""
    lane: RequestPriority = RequestPriority.CHAT
    surgery: bool = True
    """Keep what stands behind pieces that were cut out of the prompt or put in; else only the common beginning."""
    shortest: int = SHORTEST
    """Tokens behind a cut below which they are rather computed anew, which is exact."""
    kept_at: KeptAt | None = None
    """None where nothing is to be kept of it, nor of what was read before it without such a place."""


@dataclass(frozen=True)
class ReadAhead:
    """Evaluate the beginning of a prompt that will come; answered by `Done`, whose usage says how much was new."""

    job: int
    prompt: str
    surgery: bool = True
    shortest: int = SHORTEST
    exact: bool = False
    """Compute anew what surgery has kept, so that nothing of it is left; as far as it comes before it is stopped."""
    kept_at: KeptAt | None = None


@dataclass(frozen=True)
class Keep:
    """Write what the chat has read to where it is kept; answered by `Done`."""

    job: int
    least: int
    """Tokens that must be new since the last time for it to be worth it."""
    parting: bool = False
    """The end is near: it does not wait for quiet work, and `Done` comes when it is on the disk or somebody stopped it."""


@dataclass(frozen=True)
class Forget:
    """Delete what is kept in a folder under names with that part, also if it is still to be written; answered by `Done`.

    What the chat holds of it now is kept again only when it was read anew.
    """

    job: int
    folder: Path
    part: str
    """Empty for everything."""
    number: int | None = None
    """Higher than that of the one before; None is the next one."""


@dataclass(frozen=True)
class Tokenize:
    """How many tokens each text has, control tokens recognised; answered by `Counted`."""

    job: int
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Weigh:
    """What could follow `prompt`, and how likely each word is; quiet work. Answered by `WeighReply`."""

    job: int
    prompt: str
    most: int
    """Words that are spelled out."""


@dataclass(frozen=True)
class Embed:
    """The meaning of each text as a vector; answered by `Embedded`."""

    job: int
    texts: tuple[str, ...]


@dataclass(frozen=True)
class EmbedTokens:
    """The meaning of each text as a whole and token by token; answered by `TokensEmbedded`."""

    job: int
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Rest:
    """Give back what quiet jobs hold; the next one makes it anew. Takes its turn among them; answered by `Done`."""

    job: int


@dataclass(frozen=True)
class StopRequest:
    """End that job now; its `Done` still comes."""

    job: int


Request = Load | Generate | ReadAhead | Keep | Forget | Tokenize | Weigh | Embed | EmbedTokens | Rest | StopRequest

# From the worker


@dataclass(frozen=True)
class LoadProgress:
    """How much of the weights is in, from 0 to 1."""

    job: int
    fraction: float


@dataclass(frozen=True)
class ModelFacts:
    """What a loaded model says about itself; the fields are those of `domain.model.LoadedModel`."""

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
    """The model answers from now on."""

    job: int
    facts: ModelFacts


@dataclass(frozen=True)
class PrefillProgress:
    """Prompt tokens evaluated so far, of those that had to be; the rest was in the KV cache."""

    job: int
    done: int
    total: int


@dataclass(frozen=True)
class Chunk:
    """The next piece of the reply, whole characters only."""

    job: int
    text: str


@dataclass(frozen=True)
class Done:
    """The reply ended."""

    job: int
    usage: Usage


@dataclass(frozen=True)
class Counted:
    """Answer to `Tokenize`, in its order."""

    job: int
    counts: tuple[int, ...]


@dataclass(frozen=True)
class WeighReply:
    """Answer to `Weigh`; without any word where something else came first."""

    job: int
    words: NextWords


@dataclass(frozen=True)
class Embedded:
    """Answer to `Embed`, in its order: unit vectors of float32 in native byte order."""

    job: int
    vectors: tuple[bytes, ...]


@dataclass(frozen=True)
class TokensEmbedded:
    """Answer to `EmbedTokens`, in its order."""

    job: int
    meanings: tuple[TextEmbedding, ...]


@dataclass(frozen=True)
class JobFailed:
    """The job could not be done; `kind` is the name of an error class of `errors.py`."""

    job: int
    kind: str
    message: str
    remedy: str = ""


Report = LoadProgress | Loaded | PrefillProgress | Chunk | Done | Counted | WeighReply | Embedded | TokensEmbedded | JobFailed


@dataclass(frozen=True)
class Died:
    """Made by the client's own reader when the pipe ends: the process is gone."""

    exit_code: int | None = None
