"""Reasons why the worker process of a model ended unexpectedly, from its exit code and the last lines it wrote to stderr."""

from __future__ import annotations

import re
import signal
from contextlib import suppress

from lethe_app.errors import ModelCrashed, ModelError, ModelOutOfMemory, ModelUnreadable
from lethe_app.llm.engines.worker import SMALLER_MODEL_ADVICE

RESTART_ADVICE = "Restart the model to continue."
OTHER_FILE_ADVICE = "Choose another model, or download this one again."
ENGINE_ADVICE = "Install a build of llama-cpp-python that is made for this processor."
SAVED = "The conversation so far is saved."
NO_MEMORY = "The system stopped the model, most likely because memory ran out."
NO_INSTRUCTION = "The engine needs an instruction that this processor does not have."
BAD_ACCESS = "The model crashed with a memory access error"
FILE_GONE = "The model file could not be read any more, for example because its drive was unplugged"
REASONS: dict[int, str] = {
    -9: NO_MEMORY, 0xC0000017: NO_MEMORY, -4: NO_INSTRUCTION, 0xC000001D: NO_INSTRUCTION,
    -11: BAD_ACCESS, 0xC0000005: BAD_ACCESS, -7: FILE_GONE, 0xC0000006: FILE_GONE,
    -6: "The engine stopped because of an error of its own", -15: "Another program ended the model",
}  # fmt: skip
"""Sentence by exit code: the number of a POSIX signal, negative, or a status of Windows. Those without a full stop are followed
by the code.
"""
MEMORY_ERROR = re.compile(r"bad_alloc|out of memory|failed to allocate|cannot allocate memory|MemoryError", re.IGNORECASE)
ERROR_LINE = re.compile(r"assert|error|abort|terminate|exception", re.IGNORECASE)
MAX_LINE = 200
"""Characters of a line of stderr that are shown."""


def crash_error(exit_code: int | None = None, error_output: str = "", *, is_loading: bool = False) -> ModelError:
    """Return the error for a worker process that ended unexpectedly, with its reason and what helps against it.

    While a model is loaded, a crash says that this file cannot be used here, so that it is not tried with every message.
    """
    if exit_code is not None and exit_code < 0 and exit_code + (1 << 32) in REASONS:
        exit_code += 1 << 32  # Python returns a status of Windows as a signed number
    reason = REASONS.get(exit_code or 0, "The model stopped working")
    if MEMORY_ERROR.search(error_output):
        reason = "The model ran out of memory."
    if not reason.endswith("."):
        line = last_error_line(error_output)
        reason = f"{reason}{name_exit_code(exit_code)}{f': {line}' if line else ''}."
    if reason == NO_INSTRUCTION:
        return ModelError(reason, ENGINE_ADVICE)
    if not is_loading or exit_code in (None, -15):
        return ModelCrashed(f"{reason} {SAVED}", RESTART_ADVICE)
    if "memory ran out" in reason or "out of memory" in reason:
        return ModelOutOfMemory(reason, SMALLER_MODEL_ADVICE)
    return ModelUnreadable(f"The model could not be loaded. {reason}", OTHER_FILE_ADVICE)


def name_exit_code(exit_code: int | None) -> str:
    """Return an exit code in brackets with a space before them, a signal by its name; empty if it is not known."""
    if exit_code is None:
        return ""
    with suppress(ValueError):
        return f" ({signal.Signals(-exit_code).name})"
    return f" (code {exit_code})"


def last_error_line(error_output: str) -> str:
    """Return the last line of the output of a process that speaks of an error, without its full stop, or else an empty text."""
    lines = [line.strip().rstrip(".") for line in error_output.splitlines() if ERROR_LINE.search(line)]
    return lines[-1][:MAX_LINE] if lines else ""
