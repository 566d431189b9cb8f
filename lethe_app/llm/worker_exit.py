"""Reasons why the worker process of a model ended unexpectedly, from its exit code and the last lines it wrote to stderr."""

from __future__ import annotations

import re
import signal
from contextlib import suppress

from lethe_app.errors import ModelCrashed, ModelError, ModelOutOfMemory, ModelUnreadable
from lethe_app.llm.engines.worker import SMALLER_MODEL_ADVICE

NO_MEMORY = "The system stopped the model, most likely because memory ran out"
NO_INSTRUCTION = "The engine needs an instruction that this processor does not have"
BAD_ACCESS = "The model crashed with a memory access error"
FILE_GONE = "The model file could not be read any more, for example because its drive was unplugged"
REASONS: dict[int | None, str] = {
    -9: NO_MEMORY, 0xC0000017: NO_MEMORY, -4: NO_INSTRUCTION, 0xC000001D: NO_INSTRUCTION,
    -11: BAD_ACCESS, 0xC0000005: BAD_ACCESS, -7: FILE_GONE, 0xC0000006: FILE_GONE,
    -6: "The engine stopped because of an error of its own", -15: "Another program ended the model",
}  # fmt: skip
"""Reason by exit code: the number of a POSIX signal, negative, or a status of Windows."""
MEMORY_ERROR = re.compile(r"bad_alloc|out of memory|failed to allocate|cannot allocate memory|MemoryError", re.IGNORECASE)
ERROR_LINE = re.compile(r"^.*(?:assert|error|abort|terminate|exception).*$", re.IGNORECASE | re.MULTILINE)
MAX_LINE = 200
"""Characters of a line of stderr that are shown."""


def crash_error(exit_code: int | None = None, error_output: str = "", *, is_loading: bool = False) -> ModelError:
    """Return the error for a worker process that ended unexpectedly, with its reason and what helps against it.

    While a model is loaded, a crash says that this file cannot be used here, so that it is not tried with every message.
    """
    reason = NO_MEMORY if MEMORY_ERROR.search(error_output) else REASONS.get(exit_code, "The model stopped working")
    details = f"{reason}{describe_exit(exit_code, error_output)}."
    if reason == NO_INSTRUCTION:
        return ModelError(details, "Install a build of llama-cpp-python that is made for this processor.")
    if not is_loading or exit_code in (None, -15):
        return ModelCrashed(f"{details} The conversation so far is saved.", "Restart the model to continue.")
    if reason == NO_MEMORY:
        return ModelOutOfMemory(details, SMALLER_MODEL_ADVICE)
    return ModelUnreadable(f"The model could not be loaded. {details}", "Choose another model, or download this one again.")


def describe_exit(exit_code: int | None, error_output: str) -> str:
    """Return an exit code, a signal by its name, and the last line of the output that speaks of an error; empty if neither is
    known.
    """
    name = "" if exit_code is None else f" (code {exit_code})"
    with suppress(ValueError):
        name = f" ({signal.Signals(-(exit_code or 0)).name})"
    lines = ERROR_LINE.findall(error_output)
    return f"{name}: {lines[-1].strip()[:MAX_LINE].rstrip('.')}" if lines else name
