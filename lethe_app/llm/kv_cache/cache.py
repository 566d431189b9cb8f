"""KV cache of one sequence together with the list of its tokens, which must agree at every moment.

llama.cpp appends tokens only after the last one of a sequence. To insert tokens in the middle, or to recompute a run, the
cells after it are therefore staged, and moved back when the tokens before them are done. If a stop interrupts that, the cells
still staged are moved up to follow what is done, so that they are not lost.

A moved cell keeps the values computed after its former text; only its key is rotated to the new position (RoPE). That is
quick but not exact, so every such position is recorded as a seam, and seams are recomputed while nobody waits.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import llama_cpp

from lethe_app.errors import ModelError
from lethe_app.llm.kv_cache.diff import TokenRun, common_prefix_length
from lethe_app.llm.kv_cache.edits import Seam
from lethe_app.llm.kv_cache.reuse import (
    DEFAULT_OPTIONS,
    DivergenceLog,
    ReuseOptions,
    ReusePlan,
    checkpoint_positions,
    plan_layout,
)
from lethe_app.llm.kv_cache.saved_state import SavedState
from lethe_app.llm.kv_cache.staging import SEQUENCE, CellStaging
from lethe_app.llm.native.model import NativeFlag, is_recurrent
from lethe_app.llm.native.state import Checkpoints, SlidingWindow, copy_sequence, restore_sequence

ABORTED = 2
"""Return code of llama_decode when the abort callback stopped it."""
BATCH_AFTER_MOVE = 16
"""Batch size of the decode that also applies pending moves of cells: it cannot be interrupted, so it should not take long."""
BACKGROUND_BATCH_SIZE = 128
"""Batch size, in tokens, of recomputing in the background; an interrupted batch is lost."""
_NO_ABORT_CALLBACK = llama_cpp.ggml_abort_callback()
"""Null callback: decoding cannot be aborted."""


class KvCache:
    """Evaluate only those tokens of a prompt that are not cached; after a stop the cache holds complete batches only."""

    def __init__(self, context: Any, batch: int, stop: NativeFlag, *, can_shift: bool) -> None:  # noqa: ANN401 - of llama.cpp
        """Wrap an empty context. It evaluates `batch` tokens at once and, with `can_shift`, must have two sequences."""
        self.context = context
        self.capacity = int(llama_cpp.llama_n_ctx(context))
        self._memory = llama_cpp.llama_get_memory(context)
        self._batch_size = batch
        self._stop = stop
        self._can_shift = can_shift
        self._is_recurrent = is_recurrent(llama_cpp.llama_get_model(context))
        self._window = SlidingWindow(context, SEQUENCE)
        self._checkpoints = Checkpoints(context, SEQUENCE)
        """Positions to which a recurrent model can be rewound; empty for other models."""
        self._divergence_log = DivergenceLog()
        self._checkpoint_positions: set[int] = set()
        """Positions at which the current evaluation takes checkpoints."""
        self._tokens: list[int] = []
        self._seams: list[Seam] = []
        self._staging = CellStaging(context, stop)
        self._planned_seams: list[Seam] = []
        """Seams of the cache once all staged runs are back at their planned positions."""

    @property
    def length(self) -> int:
        """Number of cached tokens."""
        return len(self._tokens)

    @property
    def tokens(self) -> list[int]:
        """The cached tokens; the list itself, not a copy."""
        return self._tokens

    @property
    def seams(self) -> Sequence[Seam]:
        """Seams of the cache, by position."""
        return self._seams

    @property
    def drift(self) -> int:
        """Number of seams: positions whose tokens were computed after a different text than now precedes them."""
        return len(self._seams)

    def evaluate(
        self, tokens: list[int], on_progress: Callable[[int, int], None], options: ReuseOptions = DEFAULT_OPTIONS
    ) -> int:
        """Make the cache hold exactly `tokens` and return how many were computed.

        The last token is always computed, because its logits are needed. If the stop flag is set it ends early and leaves
        the cache consistent. Raise ModelError if llama.cpp fails.
        """
        layout = self._plan_layout(self._tokens, self._seams, tokens, options)
        self._planned_seams, recompute = layout.seams, layout.recompute
        shared_length = layout.runs[0].length
        self._divergence_log.record_prompt(shared_length, len(tokens))
        self._checkpoint_positions = checkpoint_positions(shared_length, len(tokens)) if self._is_recurrent else set()
        self._stage_runs(layout.runs, recompute=recompute)
        self._take_checkpoint()
        total = len(tokens) - self.length - (0 if recompute else self._staging.length)
        on_progress(0, total)
        done = 0
        try:
            while self.length < len(tokens):
                staged_runs = self._staging.runs
                if staged_runs and not recompute and staged_runs[0].target_start == self.length:
                    self._unstage_next_run(tokens)
                    continue
                batch = self._next_batch(
                    tokens, BACKGROUND_BATCH_SIZE if options.exact else self._batch_size, recompute=recompute
                )
                # While recomputing, the old cells of a run are only a fallback for a stop, and go when room is needed.
                if recompute:
                    self._make_room(len(batch))
                if not self._decode(batch):
                    break
                done += len(batch)
                self._take_checkpoint()
                self._staging.drop(self.length)
                on_progress(done, total)
        finally:
            # Cells left in the staging sequence would be missing from the token list but occupy the context.
            self._unstage_remaining(tokens)
        return done

    def count_reusable(self, cached: list[int], seams: Sequence[Seam], target: list[int], options: ReuseOptions) -> int:
        """Return how many of the `target` tokens need not be computed if the cache held `cached` with these seams."""
        # Identity, not equality: a saved state with the same tokens has no checkpoints and, with a sliding window, fewer
        # cells.
        is_current, cached_length = cached is self._tokens, len(cached)
        # The state of a recurrent model sums up all its tokens, so it serves as a whole or from a checkpoint.
        if self._is_recurrent:
            shared = common_prefix_length(cached, target)
            checkpoint = self._checkpoints.nearest_position(min(shared, len(target) - 1)) if is_current else 0
            return shared if shared == cached_length < len(target) else checkpoint
        reused = self._plan_layout(cached, seams, target, options).reused_tokens
        can_rewind = (
            self._window.has_cells_for(reused) if is_current else self._window.has_saved_cells_for(reused, cached_length)
        )
        return reused if reused == cached_length or can_rewind else 0

    def capture_state(self) -> SavedState | None:
        """Return a copy of the cache, or None while moved cells are pending, whose keys are not yet those of their new
        positions.

        Models that cannot be rewound after a restore are rewound before it: tokens that the next prompt may not begin with
        are dropped.
        """
        self._rewind_before_saving(self._divergence_log.stable_length(self.length))
        data = copy_sequence(self.context, SEQUENCE) if self._tokens and not self._staging.has_moved else None
        return SavedState(list(self._tokens), tuple(self._seams), data) if data is not None else None

    def restore_state(self, state: SavedState) -> bool:
        """Replace the cache by a saved state; the cache is empty if llama.cpp refuses the state."""
        self._clear()
        # The second condition refuses a state whose cells do not match its token list.
        if not restore_sequence(self.context, SEQUENCE, state.data) or self._last_position() != len(state.tokens) - 1:
            self._clear()
            return False
        self._tokens, self._seams = list(state.tokens), list(state.seams)
        self._divergence_log = DivergenceLog()
        return True

    def append(self, token: int) -> bool:
        """Evaluate one sampled token; returns False if the stop flag ended it."""
        self._divergence_log.record_reply()
        return self._decode([token])

    def free(self) -> None:
        """Free the context; the object must not be used afterwards."""
        llama_cpp.llama_free(self.context)

    def _plan_layout(self, cached: list[int], seams: Sequence[Seam], target: list[int], options: ReuseOptions) -> ReusePlan:
        return plan_layout(cached, seams, target, options, self.capacity, can_shift=self._can_shift)

    def _take_checkpoint(self) -> None:
        """Take a checkpoint if the current length is one of the planned positions."""
        if self.length in self._checkpoint_positions and self._checkpoints.nearest_position(self.length) != self.length:
            self._checkpoints.save(self.length)

    def _stage_runs(self, runs: Sequence[TokenRun], *, recompute: bool) -> None:
        """Drop the cells outside the runs and stage all runs after the first at the positions where they are needed."""
        self._staging.stage(runs, recompute=recompute)
        if self._rewind(runs[0].length):
            self._staging.arrange(runs)

    def _next_batch(self, tokens: list[int], limit: int, *, recompute: bool) -> list[int]:
        """Return the next tokens to decode, up to the next staged run (unless it is recomputed too) or checkpoint position."""
        end = self.length + min(limit, self._batch_size, BATCH_AFTER_MOVE if self._staging.has_moved else limit)
        # Tokens of a staged run need no computation; it is moved back once everything before it is evaluated.
        if self._staging.runs and not recompute:
            end = min(end, self._staging.runs[0].target_start)
        end = min([end, *(position for position in self._checkpoint_positions if position > self.length)])
        return tokens[self.length : end]

    def _make_room(self, count: int) -> None:
        """Drop staged cells that are about to be recomputed if the context has no room for both; otherwise they remain as a
        fallback.
        """
        if self.length + self._staging.cells + count > self.capacity:
            self._staging.drop(self.length + count)

    def _unstage_next_run(self, tokens: list[int]) -> None:
        """Move the next staged run back into the sequence at its planned position."""
        run = self._staging.runs.pop(0)
        self._staging.unstage(run, run.target_start)
        self._tokens += tokens[run.target_start : run.target_end]
        self._seams += [seam for seam in self._planned_seams if run.target_start <= seam.position < run.target_end]

    def _unstage_remaining(self, tokens: list[int]) -> None:
        """Move the runs still staged up after the evaluated tokens; there are none unless the evaluation ended early."""
        # Each run that moves up gets a seam for the gap it closes, which includes the planned seams that lie in the gap.
        last_position = self._seams[-1].position if self._seams else -1
        for run in self._staging.runs:
            gap = run.target_start - self.length
            changes = [seam.changed_tokens for seam in self._planned_seams if last_position < seam.position <= run.target_start]
            if gap or changes:
                self._seams.append(Seam(self.length, gap + sum(changes)))
            inside = [seam for seam in self._planned_seams if run.target_start < seam.position < run.target_end]
            self._seams += [Seam(seam.position - gap, seam.changed_tokens) for seam in inside]
            last_position = run.target_end - 1
            if not self._staging.unstage(run, run.target_start - gap):
                self._drop_incomplete_batch()
                break
            self._tokens += tokens[run.target_start : run.target_end]
        self._seams = [seam for seam in self._seams if seam.position < self.length]
        self._staging.clear()
        self._planned_seams = []

    def _rewind(self, length: int) -> bool:
        """Remove all tokens after the first `length`; returns False if the model cannot stop exactly there and more was
        removed.
        """
        # llama.cpp itself refuses to truncate a recurrent state, but not a sliding window whose older cells are overwritten.
        if length < self.length and not (
            (self._is_recurrent or self._window.has_cells_for(length)) and self._remove_from(length)
        ):
            self._rewind_to_checkpoint(length)
            return False
        self._truncate(length)
        return True

    def _rewind_before_saving(self, length: int) -> None:
        """Rewind to `length` if this is possible now and will not be after a restore."""
        position = self._checkpoints.nearest_position(length) if self._is_recurrent else length
        if position and (self._is_recurrent or (self._window.width and self._window.has_cells_for(position))):
            self._rewind(position)

    def _remove_from(self, position: int) -> bool:
        return bool(llama_cpp.llama_memory_seq_rm(self._memory, SEQUENCE, position, -1))

    def _rewind_to_checkpoint(self, length: int) -> None:
        """Rewind to the last checkpoint not after `length`, or clear the cache."""
        checkpoint = self._checkpoints.nearest_position(length)
        if (
            checkpoint
            and self._checkpoints.restore(checkpoint)
            and self._remove_from(checkpoint)
            and self._last_position() == checkpoint - 1
        ):
            self._truncate(checkpoint)
        else:
            self._clear()

    def _last_position(self) -> int:
        return int(llama_cpp.llama_memory_seq_pos_max(self._memory, SEQUENCE))

    def _truncate(self, length: int) -> None:
        del self._tokens[length:]
        self._seams = [seam for seam in self._seams if seam.position < length]
        self._checkpoints.truncate(length)

    def _decode(self, tokens: list[int]) -> bool:
        if self._stop.is_set():
            return False
        array = (llama_cpp.llama_token * len(tokens))(*tokens)
        batch = llama_cpp.llama_batch_get_one(array, len(tokens))
        code = self._decode_without_abort(batch) if self._staging.has_moved else llama_cpp.llama_decode(self.context, batch)
        if code == 0:
            self._tokens += tokens
            return True
        # Computation that was submitted before the abort must end before its cells are removed.
        llama_cpp.llama_synchronize(self.context)
        self._drop_incomplete_batch()
        if code == ABORTED or self._stop.is_set():
            return False
        raise ModelError(
            f"The engine could not evaluate the prompt (code {code}).", "Restart the model with a smaller context size."
        )

    def _decode_without_abort(self, batch: Any) -> int:  # noqa: ANN401 - a structure of llama.cpp
        """Decode with aborting disabled. llama_decode first rotates the keys of moved cells; if it were aborted half-way,
        some would be rotated twice.
        """
        llama_cpp.llama_set_abort_callback(self.context, _NO_ABORT_CALLBACK, None)
        code = int(llama_cpp.llama_decode(self.context, batch))
        llama_cpp.llama_set_abort_callback(self.context, self._stop.callback, ctypes.cast(self._stop.buffer, ctypes.c_void_p))
        self._staging.has_moved = code != 0
        return code

    def _drop_incomplete_batch(self) -> None:
        """Remove the cells of an interrupted batch; complete batches before it stay."""
        if not self._remove_from(self.length):
            self._rewind_to_checkpoint(self.length)

    def _clear(self) -> None:
        llama_cpp.llama_memory_clear(self._memory, True)
        self._tokens.clear()
        self._seams.clear()
        self._staging.clear()
        self._checkpoints.truncate(0)
        self._staging.has_moved = False
