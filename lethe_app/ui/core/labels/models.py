"""Display texts of the download and the qualification of a model."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.model import DownloadProgress, DownloadStage
from lethe_app.services.extraction.qualification import QualificationResult
from lethe_app.ui.core.formatting import format_size


def _tr(text: str) -> str:
    return QCoreApplication.translate("Model", text)


def format_download(progress: DownloadProgress) -> str:
    """Return the progress of a download."""
    done, total = format_size(progress.done), format_size(progress.total) if progress.total else "?"
    match progress.stage:
        case DownloadStage.LOADING:
            speed = _tr("{speed}/s").format(speed=format_size(round(progress.speed)))
            return " · ".join([_tr("{done} of {total}").format(done=done, total=total), *([speed] if progress.speed else [])])
        case DownloadStage.CHECKING:
            return _tr("Verifying download…")
        case DownloadStage.DONE:
            return _tr("Downloaded.")
        case DownloadStage.STOPPED:
            return _tr("Stopped; the partial download is kept.")
        case DownloadStage.FAILED:
            return progress.problem
        case _:
            return _tr("Waiting for the server…")


def format_trust(verdict: QualificationResult) -> str:
    """Return whether the model writes facts and summaries according to its qualification."""
    if verdict.trusted_anyway:
        return _tr("Trusted by you: writes facts and summaries of your conversations.")
    if verdict.may_write_facts and verdict.may_write_summaries:
        return _tr("Writes facts and summaries of your conversations.")
    if verdict.may_write_summaries:
        return _tr("Writes summaries. Facts are extracted by rules, because the model invents some.")
    if verdict.may_write_facts:
        return _tr("Writes facts. Summaries are built from your own words.")
    return _tr("Does not write facts or summaries, because it invents things; they are built from your own words.")
