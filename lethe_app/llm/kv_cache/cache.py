"""The KV cache and the list of tokens it holds, which must tell the same story at every moment.

To put tokens into the middle, or to compute a stretch anew, what stands behind is parked meanwhile. When a stop comes in the
middle, what is still parked moves up to what is done, so that it is not lost.
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
FIRST_AFTER_MOVE = 16
"""Tokens read together with the moving of cells, which must not be interrupted and so should not take long."""
QUIET_BATCH = 128
"""Tokens computed anew at once while nobody waits; an interrupted batch is lost."""
_NEVER = llama_cpp.ggml_abort_callback()


class Cache:
    """Evaluates tokens that are not cached already; a stop in the middle leaves only whole batches, never a lie."""

    def __init__(self, context: Any, batch: int, stop: NativeFlag, *, can_shift: bool) -> None:  # noqa: ANN401 - of llama.cpp
        """On an empty context, which reads `batch` tokens at once and, where it can shift, has two sequences."""
        self.context = context
        self.room = int(llama_cpp.llama_n_ctx(context))
        self._memory = llama_cpp.llama_get_memory(context)
        self._batch_size = batch
        self._stop = stop
        self._can_shift = can_shift
        self._sums_up = sums_up(llama_cpp.llama_get_model(context))
        self._window = SlidingWindow(context, SEQUENCE)
        self._checkpoints = Checkpoints(context, SEQUENCE)
        """Where a model that sums up can go back to; others need none."""
        self._partings = DivergenceLog()
        self._marks: set[int] = set()
        """Where the next checkpoints are to be taken."""
        self._tokens: list[int] = []
        self._joints: list[Seam] = []
        self._parking = CellStaging(context, stop)
        self._planned: list[Seam] = []
        """Where the joints will be if everything parked comes back as planned."""

    @property
    def length(self) -> int:
        """Tokens cached now."""
        return len(self._tokens)

    @property
    def tokens(self) -> list[int]:
        """What is cached."""
        return self._tokens

    @property
    def joints(self) -> Sequence[Seam]:
        """Where it was cut and mended."""
        return self._joints

    @property
    def drift(self) -> int:
        """Places where text stands behind other text than it was computed behind."""
        return len(self._joints)

    def evaluate(self, tokens: list[int], reading: Callable[[int, int], None], wishes: ReuseOptions = PLAIN) -> int:
        """Make the cache hold exactly `tokens`; returns how many were computed.

        The last token is always computed, for its logits are needed. Ends early, consistently, when the stop flag is set.
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
            self._close_up(tokens)
        return done

    def reusable(self, held: list[int], joints: Sequence[Seam], wanted: list[int], wishes: ReuseOptions) -> int:
        """How many of the tokens wanted need not be computed if those held are cached, with these joints."""
        is_here, whole = held is self._tokens, len(held)
        if self._sums_up:  # all of what was summed up, or nothing, unless it went by a checkpoint
            shared = common_prefix(held, wanted)
            back = self._checkpoints.nearest(min(shared, len(wanted) - 1)) if is_here else 0
            return shared if shared == whole < len(wanted) else back
        reused = self._lay_out(held, joints, wanted, wishes).reused
        can_go_back = self._window.is_there(reused) if is_here else self._window.is_kept(reused, whole)
        return reused if reused == whole or can_go_back else 0

    def bookmark(self) -> SavedState | None:
        """All that is cached; None while cells wait to be moved, whose keys are not yet those of their places.

        Models that cannot go back in it later do so before: what the next prompt may not begin with is forgotten.
        """
        self._step_back(self._partings.stays(self.length))
        data = take(self.context, SEQUENCE) if self._tokens and not self._parking.has_moved else None
        return SavedState(list(self._tokens), tuple(self._joints), data) if data is not None else None

    def put_back(self, mark: SavedState) -> bool:
        """Hold that and nothing else; nothing at all if llama.cpp finds that it does not fit."""
        self._forget_all()
        if not restore_sequence(self.context, SEQUENCE, mark.data) or self._last_place() != len(mark.tokens) - 1:
            self._forget_all()
            return False
        self._tokens, self._joints = list(mark.tokens), list(mark.joints)
        self._partings = DivergenceLog()
        return True

    def append(self, token: int) -> bool:
        """Evaluate one token drawn; False when the stop flag ended it."""
        self._partings.has_spoken()
        return self._decode([token])

    def free(self) -> None:
        """Give the context back; the last thing asked of it."""
        llama_cpp.llama_free(self.context)

    def _lay_out(self, held: list[int], joints: Sequence[Seam], wanted: list[int], wishes: ReuseOptions) -> Layout:
        return lay_out(held, joints, wanted, wishes, self.room, can_shift=self._can_shift)

    def _mark(self) -> None:
        """Take a checkpoint where one is wanted."""
        if self.length in self._marks and self._checkpoints.nearest(self.length) != self.length:
            self._checkpoints.take(self.length)

    def _keep(self, runs: Sequence[Run], *, anew: bool) -> None:
        """Forget what is in none of the runs; all behind the first of them is parked at the places where it is wanted."""
        self._parking.copy(runs, anew=anew)
        if self._rewind(runs[0].length):
            self._parking.arrange(runs)

    def _next_batch(self, tokens: list[int], most: int, *, anew: bool) -> list[int]:
        """Up to the next parked stretch, unless that is to be computed as well."""
        end = self.length + min(most, self._batch_size, FIRST_AFTER_MOVE if self._parking.has_moved else most)
        if self._parking.runs and not anew:
            end = min(end, self._parking.runs[0].wanted)
        end = min([end, *(mark for mark in self._marks if mark > self.length)])
        return tokens[self.length : end]

    def _make_room(self, count: int) -> None:
        """Old cells serve until their stretch is computed anew, unless the context has no room for both."""
        if self.length + self._parking.cells + count > self.room:
            self._parking.drop(self.length + count)

    def _bring_back(self, tokens: list[int]) -> None:
        """The next parked stretch stands where it should."""
        run = self._parking.runs.pop(0)
        self._parking.leave(run, run.wanted)
        self._tokens += tokens[run.wanted : run.wanted_end]
        self._joints += [joint for joint in self._planned if run.wanted <= joint.place < run.wanted_end]

    def _close_up(self, tokens: list[int]) -> None:
        """What is parked when evaluating ends moves up to what is done; nothing is, unless it ended early."""
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
        """Forget everything behind the first `length` tokens. Models that cannot go back just there forget more: then False."""
        if length < self.length and not ((self._sums_up or self._window.is_there(length)) and self._remove_from(length)):
            self._go_back(length)
            return False
        self._shorten(length)
        return True

    def _step_back(self, length: int) -> None:
        """So far, if that is possible and there will be no way back later."""
        place = self._checkpoints.nearest(length) if self._sums_up else length
        if place and (self._sums_up or (self._window.width and self._window.is_there(place))):
            self._rewind(place)

    def _remove_from(self, place: int) -> bool:
        return bool(llama_cpp.llama_memory_seq_rm(self._memory, SEQUENCE, place, -1))

    def _go_back(self, length: int) -> None:
        """To the last checkpoint before that place, or to the very beginning."""
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
        llama_cpp.llama_synchronize(self.context)
        self._drop_half_done()
        if code == ABORTED or self._stop.is_set():
            return False
        raise ModelError(
            f"The engine could not evaluate the prompt (code {code}).", "Restart the model, with a smaller context."
        )

    def _decode_and_move(self, batch: Any) -> int:  # noqa: ANN401 - a structure of llama.cpp
        """Before it decodes, llama.cpp turns the keys of cells that were moved; stopped half-way, it would turn some twice."""
        llama_cpp.llama_set_abort_callback(self.context, _NEVER, None)
        code = int(llama_cpp.llama_decode(self.context, batch))
        llama_cpp.llama_set_abort_callback(self.context, self._stop.callback, ctypes.cast(self._stop.buffer, ctypes.c_void_p))
        self._parking.has_moved = code != 0
        return code

    def _drop_half_done(self) -> None:
        """Cells of an interrupted batch go; what was whole before it stays."""
        if not self._remove_from(self.length):
            self._go_back(self.length)

    def _forget_all(self) -> None:
        llama_cpp.llama_memory_clear(self._memory, True)
        self._tokens.clear()
        self._joints.clear()
        self._parking.clear()
        self._checkpoints.cut(0)
        self._parking.has_moved = False
