"""Says what a model has to do with memory: whether it may write memories, or whether they are found with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QLocale

from lethe_app.domain.model import ModelFile
from lethe_app.services.extraction.qualification import QualificationResult
from lethe_app.services.indexing.embedder import known_as

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices

DIGITS = 3
"""Of a distance; the limits of good embedders lie near each other."""


def _tr(words: str) -> str:
    return QCoreApplication.translate("Model", words)


def trust_in_words(verdict: QualificationResult) -> str:
    """Who writes facts and summaries while this model is loaded."""
    if verdict.trusted_anyway:
        return _tr("You trust this model, so it writes facts and summaries of your conversations.")
    if verdict.may_write_facts and verdict.may_write_summaries:
        return _tr("It writes facts and summaries of your conversations.")
    if verdict.may_write_summaries:
        return _tr("It writes summaries; facts are taken from your own words, for it invents some.")
    if verdict.may_write_facts:
        return _tr("It notes facts; summaries are made of your own words.")
    return _tr("It invents things, so facts and summaries are made of your own words.")


def trial_in_words(verdict: QualificationResult | None) -> str:
    """The same with what it is founded on."""
    if verdict is None:
        return _tr("Whether it may write memories is found out in quiet minutes, by texts whose right answers are known.")
    percent = QLocale().toString(round(verdict.facts * 100))
    tried = _tr("When it was tried, {percent} % of the facts it wrote were right.").format(percent=percent)
    return f"{trust_in_words(verdict)} {tried}"


def is_in_use(services: AppServices, model: ModelFile) -> bool:
    """Are memories found with this embedding model, or are they about to be?"""
    chosen = services.preferences.current.embedder_path
    return chosen == str(model.path) or services.embedding.id == known_as(model)


async def meaning_in_words(services: AppServices, model: ModelFile) -> str:
    """Whether memories are found with this embedding model, and by which limits."""
    state = services.embedding.state
    if not is_in_use(services, model):
        return _tr("If you choose it, all memories are read anew, in the background; until then they are found by their words.")
    if state.trouble is not None:
        return _tr("It was chosen to find memories, but: {trouble}").format(trouble=state.trouble.message)
    if state.id != known_as(model):
        return _tr("It was chosen to find memories, and is loaded as soon as there is a quiet moment.")
    limits = await services.calibration.thresholds()
    if limits.embedder != state.id:
        return f"{_tr('Memories are found with it.')} {_tr('How near is near is measured in a quiet moment, once.')}"
    words = _tr("Measured for it: a fact is the same below a distance of {same}, and a changed one below {changed}.")
    told = {"same": limits.same_words, "changed": limits.update}
    shown = {name: QLocale().toString(value, "f", DIGITS) for name, value in told.items()}
    return f"{_tr('Memories are found with it.')} {words.format(**shown)}"
