"""How a model's process ends, and what is told of it: bidden, by itself, or by refusing a job."""

from __future__ import annotations

import threading
from multiprocessing.process import BaseProcess

from lethe_app import errors
from lethe_app.errors import LetheError, ModelCrashed, ModelError
from lethe_app.llm.protocol import Died, Refused

RESTART = "Restart the model to go on."
FAREWELL_SECONDS = 2.0
"""How long a process may take to end by itself before it is killed."""


def end(process: BaseProcess, reader: threading.Thread) -> None:
    """Terminate a process that holds nothing but memory, and wait for it and for the thread that listened to it."""
    process.terminate()
    process.join(FAREWELL_SECONDS)
    if process.is_alive():
        process.kill()
        process.join()
    reader.join()


def crash(died: Died) -> ModelCrashed:
    """Why a process most likely ended, in a sentence."""
    if died.exit_code == -9:  # SIGKILL, which Windows does not know
        return ModelCrashed("The system ended the model, most likely because memory ran out.", RESTART)
    code = "" if died.exit_code is None else f" (code {died.exit_code})"
    return ModelCrashed(f"The model stopped working{code}. Everything said so far is safe.", RESTART)


def translate(refused: Refused) -> LetheError:
    """The error that happened in the child, as the same class here."""
    kind = getattr(errors, refused.kind, ModelError)
    return kind(refused.message, refused.remedy)
