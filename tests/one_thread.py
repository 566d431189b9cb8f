"""Lets llama.cpp compute with one thread: tests run side by side, and its threads spin while they wait for each other.

Imported by the tests and, before it forks, by the server that starts their workers.
"""

from __future__ import annotations

from lethe_app.llm.native import model

model.physical_cores = lambda: 1
