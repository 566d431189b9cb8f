"""KV cache of one sequence together with the list of its tokens, which must agree at every moment.

To insert tokens in the middle, or to recompute a stretch, the cells behind it are staged. If a stop interrupts that, the
cells still staged are moved up behind what is done, so that they are not lost.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import llama_cpp

from lethe_app.errors import ModelError
from lethe_app.llm.kv_cache.diff import Run, common_prefix
from lethe_app.llm.kv_cache.edits import Seam
from lethe_app.llm.kv_cache.reuse import PLAIN, DivergenceLog, Layout, ReuseOptions, lay_out, ways_back
from lethe_app.llm.kv_cache.saved_state import SavedState
from lethe_app.llm.kv_cache.staging import SEQUENCE, CellStaging
from lethe_app.llm.native.model import NativeFlag, sums_up
from lethe_app.llm.native.state import Checkpoints, SlidingWindow, restore_sequence, take

ABORTED = 2
"""Return code of llama_decode when the abort callback stopped it."""
FIRST_AFTER_MOVE = 16
"""Batch size of the decode that also applies pending moves of cells: it cannot be interrupted, so it should not take long."""
QUIET_BATCH = 128
"""Batch size, in tokens, of recomputing in the background; an interrupted batch is lost."""
_NEVER = llama_cpp.ggml_abort_callback()
"""Null callback: decoding cannot be aborted."""


class Cache:
    """Evaluate only those tokens of a prompt that are not cached; after a stop the cache holds complete batches only."""

    def __init__(self, context: Any, batch: int, stop: NativeFlag, *, can_shift: bool) -> None:  # noqa: ANN401 - of llama.cpp
        """Wrap an empty context. It evaluates `batch` tokens at once and, with `can_shift`, must have two sequences."""
        self.context = context
        self.room = int(llama_cpp.llama_n_ctx(context))
        self._memory = llama_cpp.llama_get_memory(context)
        self._batch_size = batch
        self._stop = stop
        self._can_shift = can_shift
        self._sums_up = sums_up(llama_cpp.llama_get_model(context))
        self._window = SlidingWindow(context, SEQUENCE)
        self._checkpoints = Checkpoints(context, SEQUENCE)
        """Positions to which a recurrent model can be rewound; empty for other models."""
        self._partings = DivergenceLog()
        self._marks: set[int] = set()
        """Positions at which the current evaluation takes checkpoints."""
        self._tokens: list[int] = []
        self._joints: list[Seam] = []
        self._parking = CellStaging(context, stop)
        self._planned: list[Seam] = []
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
    def joints(self) -> Sequence[Seam]:
        """Seams of the cache, by position."""
        return self._joints

    @property
    def drift(self) -> int:
        """Number of seams: positions whose tokens were computed behind other text than now precedes them."""
        return len(self._joints)

    def evaluate(self, tokens: list[int], reading: Callable[[int, int], None], wishes: ReuseOptions = PLAIN) -> int:
        """Make the cache hold exactly `tokens` and return how many were computed.

        The last token is always computed, because its logits are needed. If the stop flag is set it ends early and leaves
        the cache consistent. Raise ModelError if llama.cpp fails.
        """
        layout = self._lay_out(self._tokens, self._joints, tokens, wishes)
        self._planned, anew = layout.joints, layout.anew
        shared = layout.runs[0].length
        self._partings.has_read(shared, len(tokens))
        self._marks = ways_back(shared, len(tokens)) if self._sums_up else set()
        self._keep(layout.runs, anew=anew)
        self._mark()
        total = len(tokens) - self.length - (0 if anew else self._parking.length)
        reading(0, total)
        done = 0
        try:
            while self.length < len(tokens):
                parked = self._parking.runs
                if parked and not anew and parked[0].wanted == self.length:
                    self._bring_back(tokens)
                    continue
                ahead = self._next_batch(tokens, QUIET_BATCH if wishes.exact else self._batch_size, anew=anew)
                if anew:
                    self._make_room(len(ahead))
                if not self._decode(ahead):
                    break
                done += len(ahead)
                self._mark()
                self._parking.drop(self.length)
                reading(done, total)
        finally:
            # Also after an exception: cells in the staging sequence would otherwise be missing from the token list but
            # occupy the context.
            self._close_up(tokens)
        return done

    def reusable(self, held: list[int], joints: Sequence[Seam], wanted: list[int], wishes: ReuseOptions) -> int:
        """Return how many of the `wanted` tokens need not be computed if the cache held the tokens `held` with these seams."""
        # Identity, not equality: a saved state with the same tokens has no checkpoints and, with a sliding window, fewer
        # cells.
        is_here, whole = held is self._tokens, len(held)
        # A running state serves only as a whole, or from a checkpoint.
        if self._sums_up:  # all of what was summed up, or nothing, unless it went by a checkpoint
            shared = common_prefix(held, wanted)
            back = self._checkpoints.nearest(min(shared, len(wanted) - 1)) if is_here else 0
            return shared if shared == whole < len(wanted) else back
        reused = self._lay_out(held, joints, wanted, wishes).reused
        can_go_back = self._window.is_there(reused) if is_here else self._window.is_kept(reused, whole)
        return reused if reused == whole or can_go_back else 0

    def bookmark(self) -> SavedState | None:
        """Return a copy of the cache, or None while moved cells are pending, whose keys are not yet those of their new
        positions.

        Models that cannot be rewound after a restore are rewound before it: tokens that the next prompt may not begin with
        are dropped.
        """
        self._step_back(self._partings.stays(self.length))
        data = take(self.context, SEQUENCE) if self._tokens and not self._parking.has_moved else None
        return SavedState(list(self._tokens), tuple(self._joints), data) if data is not None else None

    def put_back(self, mark: SavedState) -> bool:
        """Replace the cache by a saved state; the cache is empty if llama.cpp refuses the state."""
        self._forget_all()
        # The second condition refuses a state whose cells do not match its token list.
        if not restore_sequence(self.context, SEQUENCE, mark.data) or self._last_place() != len(mark.tokens) - 1:
            self._forget_all()
            return False
        self._tokens, self._joints = list(mark.tokens), list(mark.joints)
        self._partings = DivergenceLog()
        return True

    def append(self, token: int) -> bool:
        """Evaluate one sampled token; returns False if the stop flag ended it."""
        self._partings.has_spoken()
        return self._decode([token])

    def free(self) -> None:
        """Free the context; the object must not be used afterwards."""
        llama_cpp.llama_free(self.context)

    def _lay_out(self, held: list[int], joints: Sequence[Seam], wanted: list[int], wishes: ReuseOptions) -> Layout:
        return lay_out(held, joints, wanted, wishes, self.room, can_shift=self._can_shift)

    def _mark(self) -> None:
        """Take a checkpoint if the current length is one of the planned positions."""
        if self.length in self._marks and self._checkpoints.nearest(self.length) != self.length:
            self._checkpoints.take(self.length)

    def _keep(self, runs: Sequence[Run], *, anew: bool) -> None:
        """Drop the cells outside the runs and stage all runs behind the first at the positions where they are needed."""
        self._parking.copy(runs, anew=anew)
        if self._rewind(runs[0].length):
            self._parking.arrange(runs)

    def _next_batch(self, tokens: list[int], most: int, *, anew: bool) -> list[int]:
        """Return the next tokens to decode, up to the next staged run (unless it is recomputed too) or checkpoint position."""
        end = self.length + min(most, self._batch_size, FIRST_AFTER_MOVE if self._parking.has_moved else most)
        if self._parking.runs and not anew:
            end = min(end, self._parking.runs[0].wanted)
        end = min([end, *(mark for mark in self._marks if mark > self.length)])
        return tokens[self.length : end]

    def _make_room(self, count: int) -> None:
        """Drop staged cells that are about to be recomputed if the context has no room for both; otherwise they remain as a
        fallback.
        """
        if self.length + self._parking.cells + count > self.room:
            self._parking.drop(self.length + count)

    def _bring_back(self, tokens: list[int]) -> None:
        """Move the next staged run back into the sequence at its planned position."""
        run = self._parking.runs.pop(0)
        self._parking.leave(run, run.wanted)
        self._tokens += tokens[run.wanted : run.wanted_end]
        self._joints += [joint for joint in self._planned if run.wanted <= joint.place < run.wanted_end]

    def _close_up(self, tokens: list[int]) -> None:
        """Move the runs still staged up behind the evaluated tokens; there are none unless the evaluation ended early."""
        # Each run that moves up gets a seam for the gap it closes, which includes the planned seams that lie in the gap.
        seen = self._joints[-1].place if self._joints else -1
        for run in self._parking.runs:
            gap = run.wanted - self.length
            behind = [joint.changed for joint in self._planned if seen < joint.place <= run.wanted]
            if gap or behind:
                self._joints.append(Seam(self.length, gap + sum(behind)))
            inside = [joint for joint in self._planned if run.wanted < joint.place < run.wanted_end]
            self._joints += [Seam(joint.place - gap, joint.changed) for joint in inside]
            seen = run.wanted_end - 1
            if not self._parking.leave(run, run.wanted - gap):
                self._drop_half_done()
                break
            self._tokens += tokens[run.wanted : run.wanted_end]
        self._joints = [joint for joint in self._joints if joint.place < self.length]
        self._parking.clear()
        self._planned = []

    def _rewind(self, length: int) -> bool:
        """Remove all tokens behind the first `length`; returns False if the model cannot stop exactly there and more was
        removed.
        """
        # llama.cpp itself refuses to truncate a recurrent state, but not a sliding window whose older cells are overwritten.
        if length < self.length and not ((self._sums_up or self._window.is_there(length)) and self._remove_from(length)):
            self._go_back(length)
            return False
        self._shorten(length)
        return True

    def _step_back(self, length: int) -> None:
        """Rewind to `length` if this is possible now and will not be after a restore."""
        place = self._checkpoints.nearest(length) if self._sums_up else length
        if place and (self._sums_up or (self._window.width and self._window.is_there(place))):
            self._rewind(place)

    def _remove_from(self, place: int) -> bool:
        return bool(llama_cpp.llama_memory_seq_rm(self._memory, SEQUENCE, place, -1))

    def _go_back(self, length: int) -> None:
        """Rewind to the last checkpoint not behind `length`, or clear the cache."""
        back = self._checkpoints.nearest(length)
        if back and self._checkpoints.go_back(back) and self._remove_from(back) and self._last_place() == back - 1:
            self._shorten(back)
        else:
            self._forget_all()

    def _last_place(self) -> int:
        return int(llama_cpp.llama_memory_seq_pos_max(self._memory, SEQUENCE))

    def _shorten(self, length: int) -> None:
        del self._tokens[length:]
        self._joints = [joint for joint in self._joints if joint.place < length]
        self._checkpoints.cut(length)

    def _decode(self, tokens: list[int]) -> bool:
        if self._stop.is_set():
            return False
        array = (llama_cpp.llama_token * len(tokens))(*tokens)
        batch = llama_cpp.llama_batch_get_one(array, len(tokens))
        code = self._decode_and_move(batch) if self._parking.has_moved else llama_cpp.llama_decode(self.context, batch)
        if code == 0:
            self._tokens += tokens
            return True
        # Computation that was submitted before the abort must end before its cells are removed.
        llama_cpp.llama_synchronize(self.context)
        self._drop_half_done()
        if code == ABORTED or self._stop.is_set():
            return False
        raise ModelError(
            f"The engine could not evaluate the prompt (code {code}).", "Restart the model with a smaller context size."
        )

    def _decode_and_move(self, batch: Any) -> int:  # noqa: ANN401 - a structure of llama.cpp
        """Decode with aborting disabled. llama_decode first rotates the keys of moved cells; if it were aborted half-way,
        some would be rotated twice.
        """
        llama_cpp.llama_set_abort_callback(self.context, _NEVER, None)
        code = int(llama_cpp.llama_decode(self.context, batch))
        llama_cpp.llama_set_abort_callback(self.context, self._stop.callback, ctypes.cast(self._stop.buffer, ctypes.c_void_p))
        self._parking.has_moved = code != 0
        return code

    def _drop_half_done(self) -> None:
        """Remove the cells of an interrupted batch; complete batches before it stay."""
        if not self._remove_from(self.length):
            self._go_back(self.length)

    def _forget_all(self) -> None:
        llama_cpp.llama_memory_clear(self._memory, True)
        self._tokens.clear()
        self._joints.clear()
        self._parking.clear()
        self._checkpoints.cut(0)
        self._parking.has_moved = False
