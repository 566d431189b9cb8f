"""Native handle of one loaded model: weights, vocabulary and contexts, through the low-level calls of llama.cpp."""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llama_cpp
import psutil

from lethe_app.domain.model import KvType, LoadOptions, ModelFacts
from lethe_app.errors import ModelMissing, ModelOutOfMemory, ModelUnreadable
from lethe_app.llm.models.fingerprint import fingerprint
from lethe_app.llm.native.zero_pages import FILLS_LATER, release_zero_pages
from lethe_app.system_memory import available_memory

DEFAULT_CONTEXT = 8192
CPU_MICRO_BATCH = 128
"""Tokens computed at once on the CPU. The compute buffer grows with it, in proportion to the context where flash attention is
off: 99 MB for 512 tokens of the starter model with a context of 4k, 25 MB for 128. The speed is the same; graphics cards need
the larger batch.
"""
MAX_SEQUENCES = 64
"""Maximum number of texts embedded in one batch."""
GGML_TYPES = {KvType.F16: 1, KvType.Q8_0: 8, KvType.Q4_0: 2}
BITS_PER_VALUE = {KvType.F16: 16, KvType.Q8_0: 9, KvType.Q4_0: 5}
"""Bits per cached value, its share of the block scales included, rounded up."""
LIBRARY_PATH = Path(str(llama_cpp.llama_cpp._lib._name))  # noqa: SLF001 - the binding says nowhere else where it lies
"""Path of the llama.cpp library; it may be rebuilt without a change of the version number, so it is fingerprinted."""
LOG_ERROR = 4  # GGML_LOG_LEVEL_ERROR
CONTROL, USER_DEFINED = 1 << 3, 1 << 4  # bits of llama_token_attr
STRIP_FLAGS = 1 << 7 | 1 << 8  # LSTRIP, RSTRIP


class NativeFlag:
    """Stop flag that llama.cpp reads between graph nodes without entering Python.

    The abort callback of llama.cpp is `bool (*)(void *)`. `strlen` of a one-byte string is 0 or 1 and has the same
    signature, so the C library itself answers "is the first byte set?"; a Python callback would take the interpreter lock
    hundreds of times per token.
    """

    def __init__(self) -> None:
        # Two bytes: the flag, and the terminator that strlen stops at.
        self.buffer = ctypes.create_string_buffer(2)
        library = ctypes.cdll.msvcrt if sys.platform == "win32" else ctypes.CDLL(None)
        self.callback = ctypes.cast(library.strlen, llama_cpp.ggml_abort_callback)

    def set(self) -> None:
        self.buffer[0] = b"\x01"

    def clear(self) -> None:
        self.buffer[0] = b"\x00"

    def is_set(self) -> bool:
        return self.buffer[0] != b"\x00"


class EngineLog:
    """Collect the last ten error messages of llama.cpp, which reports only in its log why a file cannot be loaded."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        # The attribute keeps the callback alive: ctypes does not, and llama.cpp would call freed memory.
        self._callback = llama_cpp.llama_log_callback(self._on_log)
        llama_cpp.llama_log_set(self._callback, ctypes.c_void_p(0))

    def _on_log(self, level: int, text: bytes, _user_data: Any) -> None:  # noqa: ANN401 - a void pointer
        if level == LOG_ERROR:
            self.lines = [*self.lines[-9:], text.decode("utf-8", "replace").strip()]

    @property
    def first_reason(self) -> str:
        """First error message, without the name of the C function that logged it and what it was doing; empty if none."""
        return self.lines[0].split(": ", 1)[-1].rpartition("error loading model")[2].lstrip(": ") if self.lines else ""


ENGINE_LOG = EngineLog()  # llama.cpp has one log per process and calls into it for as long as the process lives


class NativeModel:
    """A loaded model and its chat context. Call `free` before dropping the object."""

    def __init__(self, path: Path, options: LoadOptions, progress: Callable[[float], None], stop: NativeFlag) -> None:
        if not path.is_file():
            raise ModelMissing(f"The model file {path} does not exist.", "Choose another model.")
        ENGINE_LOG.lines = []
        llama_cpp.llama_backend_init()
        self._path, self.name, self._options, self._stop = path, path.name, options, stop
        self.model = self._load_model(path, options, progress, stop)
        self.vocab = llama_cpp.llama_model_get_vocab(self.model)
        self.threads = options.threads or physical_cores()
        self.batch = options.batch
        trained = int(llama_cpp.llama_model_n_ctx_train(self.model)) or DEFAULT_CONTEXT
        try:
            length = options.context or min(trained, DEFAULT_CONTEXT)
            # The second sequence is the staging area of `kv_cache.staging`; models whose cache cannot be edited do not need
            # it.
            self.context = self.create_context(length, self.threads, sequences=2 if self.has_cell_per_token else 1)
        except ModelOutOfMemory:
            llama_cpp.llama_model_free(self.model)
            raise
        self.context_length = int(llama_cpp.llama_n_ctx(self.context))
        self._piece_buffer = ctypes.create_string_buffer(256)

    def _load_model(self, path: Path, options: LoadOptions, progress: Callable[[float], None], stop: NativeFlag) -> Any:  # noqa: ANN401
        params = llama_cpp.llama_model_default_params()
        params.n_gpu_layers = options.gpu_layers
        params.load_mode = {
            (True, False): llama_cpp.LLAMA_LOAD_MODE_MMAP,
            (True, True): llama_cpp.LLAMA_LOAD_MODE_MMAP_MLOCK,
            (False, True): llama_cpp.LLAMA_LOAD_MODE_MLOCK,
            (False, False): llama_cpp.LLAMA_LOAD_MODE_NONE,
        }[options.mmap, options.mlock]

        def report(fraction: float, _user_data: object) -> bool:
            progress(fraction)
            # False makes llama.cpp abort the loading.
            return not stop.is_set()

        params.progress_callback = llama_cpp.llama_progress_callback(report)
        model = llama_cpp.llama_model_load_from_file(str(path).encode(), params)
        if not model:
            reason = ENGINE_LOG.first_reason or "the engine gives no reason"
            raise ModelUnreadable(f"The model {path.name} cannot be loaded: {reason}.", "Choose another model.")
        return model

    @property
    def has_cell_per_token(self) -> bool:
        """Whether every token keeps its own cache cells. Recurrent models keep a running state instead, and those with a
        sliding window overwrite cells.
        """
        return not is_recurrent(self.model) and llama_cpp.llama_model_n_swa(self.model) == 0

    @property
    def _can_move_cells(self) -> bool:
        """Whether cells may be moved. Moving rotates a cell's key (RoPE), and rounds it again if keys are quantised. Six
        moves caused a next-token divergence of 0.001 with f16 and q8_0, but up to 0.022 with q4_0. No seam records that
        loss, so q4_0 caches are never moved.
        """
        return self.has_cell_per_token and self._options.kv_type != KvType.Q4_0

    @property
    def identity(self) -> str:
        """Everything the content of the KV cache depends on besides its tokens, as JSON: the file, how it is loaded, and the
        build of llama.cpp.
        """
        options = self._options
        return json.dumps(
            {
                "model": fingerprint(self._path),
                "context": self.context_length,
                "sequences": int(llama_cpp.llama_n_seq_max(self.context)),
                "kv": str(options.kv_type),
                "flash": flash_attention(options),
                "layers on the card": options.gpu_layers,
                "adapters": [],  # none can be loaded yet
                "build": [llama_cpp.__version__, *fingerprint(LIBRARY_PATH), int(llama_cpp.LLAMA_STATE_SEQ_VERSION)],
                "machine": [sys.platform, sys.byteorder],
            }
        )

    def create_context(self, length: int, threads: int, sequences: int = 1, *, is_pooled: bool = True) -> Any:  # noqa: ANN401 - a pointer of llama.cpp
        """Create a context for `length` tokens in all its sequences; the caller frees it. Raise ModelOutOfMemory.

        An embedding model that `is_pooled` returns a vector per text, otherwise one per token.
        """
        options, stop = self._options, self._stop
        ENGINE_LOG.lines = []
        params = llama_cpp.llama_context_default_params()
        params.n_ctx = length
        params.n_batch = self.batch
        params.n_ubatch = self.batch if options.gpu_layers else min(self.batch, CPU_MICRO_BATCH)
        params.n_seq_max = sequences
        # With one shared buffer, copying cells to another sequence only adds a label, and each sequence can use the whole
        # context.
        params.kv_unified = sequences > 1
        # An encoder attends to its whole window at once, so the batch must be as large as the window; the texts of a batch
        # share it.
        if options.embedding:
            params.embeddings = True
            params.n_batch = params.n_ubatch = params.n_ctx
            params.n_seq_max = MAX_SEQUENCES
            params.kv_unified = True
            if not is_pooled:
                params.pooling_type = llama_cpp.LLAMA_POOLING_TYPE_NONE
        params.n_threads = params.n_threads_batch = threads
        params.type_k = params.type_v = GGML_TYPES[options.kv_type]
        params.flash_attn_type = flash_attention(options)
        params.abort_callback = stop.callback
        params.abort_callback_data = ctypes.cast(stop.buffer, ctypes.c_void_p)
        with release_zero_pages():
            context = llama_cpp.llama_init_from_model(self.model, params)
        if not context:
            reason = ENGINE_LOG.first_reason
            raise ModelOutOfMemory(
                f"A context of {params.n_ctx} tokens for {self.name} could not be made{': ' + reason if reason else ''}.",
                "Choose a smaller context size or model.",
            )
        return context

    def create_background_context(self, free_chat_cells: int) -> Any:  # noqa: ANN401 - a pointer of llama.cpp
        """Create the context of background jobs, at most as long as that of the chat; it leaves one core free. Raise
        ModelOutOfMemory.

        Free memory is checked first, because systems overcommit memory and kill the process when it is used. The cache of the
        chat takes up memory as it fills, so room is left for its `free_chat_cells` tokens.
        """
        length = min(self._options.background_context, self.context_length)
        needed = self._estimate_cache_bytes(length) + self._estimate_logits_bytes()
        if FILLS_LATER:
            needed += self._estimate_cache_bytes(free_chat_cells)
        if not self._options.gpu_layers and needed > available_memory():
            raise ModelOutOfMemory(
                f"There is not enough memory for background tasks with {self.name}: {needed >> 20} MB more are needed.",
                "Close other programs, or choose a smaller model or context size.",
            )
        return self.create_context(length, max(1, self.threads - 1))

    def _estimate_cache_bytes(self, tokens: int) -> int:
        """Estimate the bytes of the keys and values of so many tokens in all layers."""
        model = self.model
        heads = max(int(llama_cpp.llama_model_n_head(model)), 1)
        width = int(llama_cpp.llama_model_n_embd(model)) * int(llama_cpp.llama_model_n_head_kv(model)) // heads
        cells = 2 * tokens * int(llama_cpp.llama_model_n_layer(model)) * width
        return cells * BITS_PER_VALUE[self._options.kv_type] // 8

    def _estimate_logits_bytes(self) -> int:
        """Return the bytes of the logits of one batch."""
        return 4 * self.batch * int(llama_cpp.llama_vocab_n_tokens(self.vocab))

    def read_facts(self) -> ModelFacts:
        template = llama_cpp.llama_model_chat_template(self.model, None)
        memory = llama_cpp.llama_get_memory(self.context)
        return ModelFacts(
            context=self.context_length,
            threads=self.threads,
            template=template.decode("utf-8", "replace") if template else "",
            bos=self.token_spelling(llama_cpp.llama_vocab_bos(self.vocab)),
            eos=self.token_spelling(llama_cpp.llama_vocab_eos(self.vocab)),
            adds_bos=bool(llama_cpp.llama_vocab_get_add_bos(self.vocab)),
            control_tokens=tuple(map(self.token_spelling, self._special_tokens())),
            can_shift=bool(memory) and self._can_move_cells and bool(llama_cpp.llama_memory_can_shift(memory)),
        )

    def _special_tokens(self) -> list[int]:
        """Return the tokens whose spelling the tokenizer does not treat as text."""
        size = llama_cpp.llama_vocab_n_tokens(self.vocab)
        attributes = llama_cpp.llama_vocab_get_attr
        return [token for token in range(size) if attributes(self.vocab, token) & (CONTROL | USER_DEFINED)]

    def token_spelling(self, token: int) -> str:
        if token < 0:
            return ""
        text = llama_cpp.llama_vocab_get_text(self.vocab, token)
        return text.decode("utf-8", "replace") if text else ""

    def tokenize(self, text: str, is_beginning: bool = True) -> list[int]:
        """Return the token ids of `text`, control tokens recognised.

        If the text begins a prompt, the model's BOS token is added, unless the text spells it already.
        """
        raw = text.encode("utf-8", "replace")
        bos = self.token_spelling(llama_cpp.llama_vocab_bos(self.vocab)).encode()
        add_special = is_beginning and not (bos and raw.startswith(bos))
        # A byte makes at most one token in most tokenizers; the rest is for BOS and the like.
        capacity = len(raw) + 8
        tokens = (llama_cpp.llama_token * capacity)()
        count = llama_cpp.llama_tokenize(self.vocab, raw, len(raw), tokens, capacity, add_special, True)
        if count < 0:  # some tokenizers need more room than there are bytes
            tokens = (llama_cpp.llama_token * -count)()
            count = llama_cpp.llama_tokenize(self.vocab, raw, len(raw), tokens, -count, add_special, True)
        return list(tokens[:count])

    def splitting_tokens(self) -> dict[str, int]:
        """Return the control tokens by spelling if the tokenizer splits text at them and tokenises the pieces independently,
        else {}.

        This holds for byte-level BPE, unless a control token also strips the white space next to it.
        """
        special = self._special_tokens()
        attributes = [llama_cpp.llama_vocab_get_attr(self.vocab, token) for token in special]
        if llama_cpp.llama_vocab_type(self.vocab) != llama_cpp.LLAMA_VOCAB_TYPE_BPE or any(
            map(STRIP_FLAGS.__and__, attributes)
        ):
            return {}
        return {self.token_spelling(token): token for token in special}

    def token_bytes(self, token: int) -> bytes:
        """Return the bytes of a token as they appear in text. Control tokens are spelled out, because some models mark their
        reasoning with them.
        """
        size = llama_cpp.llama_token_to_piece(self.vocab, token, self._piece_buffer, len(self._piece_buffer), 0, True)
        if size < 0:
            self._piece_buffer = ctypes.create_string_buffer(-size)
            size = llama_cpp.llama_token_to_piece(self.vocab, token, self._piece_buffer, -size, 0, True)
        return self._piece_buffer.raw[:size]

    def is_end_token(self, token: int) -> bool:
        return bool(llama_cpp.llama_vocab_is_eog(self.vocab, token))

    def free(self) -> None:
        """Free the model and its chat context; the owners of other contexts must have freed them before."""
        llama_cpp.llama_free(self.context)
        llama_cpp.llama_model_free(self.model)


def is_recurrent(model: Any) -> bool:  # noqa: ANN401 - a pointer of llama.cpp
    """Return whether the model keeps a running state, in all layers or in some (hybrid), so that its last tokens cannot be
    removed.
    """
    return bool(llama_cpp.llama_model_is_recurrent(model) or llama_cpp.llama_model_is_hybrid(model))


def has_memory_for(size: int) -> bool:
    """Return whether allocating `size` bytes leaves at least as many free; systems overcommit memory and kill processes that
    use it.
    """
    return 2 * size < available_memory()


def flash_attention(options: LoadOptions) -> int:
    """Return the flash-attention mode: on if requested or needed by a quantised cache, automatic on a GPU, else off.

    On a CPU it slows the short prefill of a turn by half (117 ms instead of 76 for 25 tokens after 1,500) and speeds up
    generation by a few percent.
    """
    if options.flash_attention or options.kv_type is not KvType.F16:
        return int(llama_cpp.LLAMA_FLASH_ATTN_TYPE_ENABLED)
    return int(llama_cpp.LLAMA_FLASH_ATTN_TYPE_AUTO if options.gpu_layers else llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED)


def physical_cores() -> int:
    """Return the number of physical cores this process may use: more threads than that make llama.cpp slower."""
    cores = psutil.cpu_count(logical=False) or psutil.cpu_count() or 1
    allowed = len(psutil.Process().cpu_affinity()) if hasattr(psutil.Process, "cpu_affinity") else cores
    return max(1, min(cores, allowed))
