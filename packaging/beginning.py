"""Runs first in every process of a bundle and prepares what only a bundle needs."""

import ctypes
import os
import sys
from pathlib import Path


def restore_library_paths() -> None:
    """Restore LD_LIBRARY_PATH, so that other programs, such as the browser for a link, use the system's libraries."""
    before = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
    os.environ.pop("LD_LIBRARY_PATH", None)
    if before is not None:
        os.environ["LD_LIBRARY_PATH"] = before


def load_kernels() -> None:
    """Load the best library of kernels for this processor: a bundle has one for each generation.

    llama.cpp itself would also search the current folder, from which nothing may be loaded.
    """
    folder = Path(sys._MEIPASS) / "llama_cpp" / "lib"  # noqa: SLF001 - where PyInstaller says that the bundle's files lie
    name = {"win32": "{}.dll", "darwin": "lib{}.dylib"}.get(sys.platform, "lib{}.so")
    base, ggml = (ctypes.CDLL(str(folder / name.format(part))) for part in ("ggml-base", "ggml"))
    # It logs to the terminal what it loads. `abs` takes the log's first argument, a number, and does nothing with it.
    silent = (ctypes.cdll.msvcrt if sys.platform == "win32" else ctypes.CDLL(None)).abs
    base.ggml_log_set(ctypes.cast(silent, ctypes.c_void_p), None)
    if ggml.ggml_backend_reg_count() == 0:
        ggml.ggml_backend_load_all_from_path(str(folder).encode())


restore_library_paths()
if "--multiprocessing-fork" in sys.argv:  # a process that is to compute with a model
    load_kernels()
