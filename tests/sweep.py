"""How much a test tries: `make test` takes samples of what `make test-all` sweeps whole."""

from __future__ import annotations

import os

import pytest

IS_WHOLE = os.environ.get("LETHE_TESTS") == "all"
SAMPLE_SHARE = 5
"""`make test` tries one example of this many."""
SEARCHED_EXAMPLES = int(os.environ.get("LETHE_EXAMPLES", "0"))
"""Number of new examples of every property test in a search for failures, other ones in each run; 0 elsewhere: the examples
are the same in every run, because a change must not be refused for what it did not touch."""

exhaustive = pytest.mark.exhaustive
"""Mark of a test that only `make test-all` runs: it repeats for every case there is what another test promises."""


BOTH_MODELS = pytest.mark.parametrize("chat_model", ["tiny", "real"], indirect=True, scope="session")
"""Mark of a test that `make test` runs with the starter model too."""


def examples(count: int = 100) -> int:
    """Return the number of examples of a property test: `count` where everything is swept, else a sample of at least 5."""
    if SEARCHED_EXAMPLES:
        return SEARCHED_EXAMPLES
    return count if IS_WHOLE else max(5, count // SAMPLE_SHARE)
