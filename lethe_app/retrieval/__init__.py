"""Retrieval of sessions, memories and World Info by meaning and by words: query analysis, candidates, ranking, gate."""

import os

# The matrices of one query are small, and the cores are busy with the model: threads of the linear algebra library would
# wait for one another longer than they compute (13 ms instead of 1). OpenBLAS reads the variable when NumPy is first
# imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
