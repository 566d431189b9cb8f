"""Runs first in every process of a bundle: what only a bundle has to set right before the program begins."""

import ctypes
import os
import sys
from pathlib import Path


def give_back_paths() -> None:
    """The bundle's own libraries are for itself: a browser that Lethe opens a link in shall find the system's."""
    before = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
    os.environ.pop("LD_LIBRARY_PATH", None)
    if before is not None:
        os.environ["LD_LIBRARY_PATH"] = before


def load_kernels() -> None:
    """A bundle's engine comes in parts, one library of kernels for each generation of processors; the best that fits is taken.

    llama.cpp itself would look for them in whatever folder the user happens to be in, too; from there, nothing may be loaded.
    """
    folder = Path(sys._MEIPASS) / "llama_cpp" / "lib"  # noqa: SLF001 - where PyInstaller says that the bundle's files lie
    name = {"win32": "{}.dll", "darwin": "lib{}.dylib"}.get(sys.platform, "lib{}.so")
    base, ggml = (ctypes.CDLL(str(folder / name.format(part))) for part in ("ggml-base", "ggml"))
    # It tells on the terminal what it loads. `abs` wants what a log is told first, a number, and does nothing with it.
    deaf = (ctypes.cdll.msvcrt if sys.platform == "win32" else ctypes.CDLL(None)).abs
    base.ggml_log_set(ctypes.cast(deaf, ctypes.c_void_p), None)
    if ggml.ggml_backend_reg_count() == 0:
        ggml.ggml_backend_load_all_from_path(str(folder).encode())


give_back_paths()
if "--multiprocessing-fork" in sys.argv:  # a process that is to compute with a model
    load_kernels()
