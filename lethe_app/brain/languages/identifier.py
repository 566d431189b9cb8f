"""Language identification by the model of py3langid, among the languages that have an ISO 639-1 code and many writers."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

LANGUAGES = frozenset(
    """
    af ar be bg bn ca cs cy da de el en es et eu fa fi fr ga gl gu he hi hr hu hy id is it ja ka kk kn ko lt lv mk ml mn mr ms
    ne nl no pa pl pt ro ru sk sl sq sr sv sw ta te th tl tr uk ur uz vi zh
    """.split()  # noqa: SIM905 - a list of quoted words cannot be read
)
"""Languages among which a text is identified; dialects would share the probability of short texts with them."""
_load_lock = Lock()


def identify(text: str) -> tuple[str, float]:
    """Return the most likely language of a text and its probability, 0 to 1. May be called in any thread; the first call loads
    the model.
    """
    with _load_lock:  # two threads must not load the model at once
        identifier = _load_identifier()
    language, probability = identifier.classify(text)
    return str(language), float(probability)


def release_model() -> None:
    """Free the memory of the model; the next call of `identify` loads it again."""
    with _load_lock:
        _load_identifier.cache_clear()


def is_loaded() -> bool:
    """Return whether the model is in memory."""
    return _load_identifier.cache_info().currsize > 0


@lru_cache(maxsize=1)
def _load_identifier() -> LanguageIdentifier:
    """Load the model, which takes a second, without the probabilities of other languages, which are half of its memory."""
    from py3langid import langid, modelio  # noqa: PLC0415 - rarely needed

    path = Path(langid.MODEL_DIR) / langid.MODEL_FILE
    probabilities, priors, labels, next_moves, rows, outputs = modelio.load_model(path)
    kept = [index for index, label in enumerate(labels) if label in LANGUAGES]
    return langid.LanguageIdentifier(
        probabilities[:, kept],
        priors[kept],
        [labels[index] for index in kept],
        next_moves,
        outputs,
        norm_probs=True,
        tk_row=rows,
    )
