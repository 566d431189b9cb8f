"""How much a test tries: `make test` takes samples of what `make test-all` sweeps whole."""

from __future__ import annotations

import os

import pytest

IS_WHOLE = os.environ.get("LETHE_TESTS") == "all"
SAMPLE_SHARE = 5
"""`make test` tries one example of this many."""

exhaustive = pytest.mark.exhaustive
"""Mark of a test that only `make test-all` runs: it repeats for every case there is what another test promises."""


BOTH_MODELS = pytest.mark.parametrize("chat_model", ["tiny", "real"], indirect=True, scope="session")
"""Mark of a test that `make test` runs with the starter model too."""


def examples(count: int = 100) -> int:
    """Return the number of examples of a property test: `count` where everything is swept, else a sample of at least 5."""
    return count if IS_WHOLE else max(5, count // SAMPLE_SHARE)
