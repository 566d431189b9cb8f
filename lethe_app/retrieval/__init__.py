"""Finding a memory by meaning and by word."""

import os

# The matrices of one question are small, and the cores are busy with the model: threads of the linear algebra library would
# wait for one another longer than they compute (13 ms instead of 1). It reads this when numpy is first imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
