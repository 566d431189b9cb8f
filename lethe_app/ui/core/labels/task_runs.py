"""Display texts of the outcome of a task run."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.agent_runs import RunOutcome, TaskRun


def _tr(text: str) -> str:
    return QCoreApplication.translate("ActivityPage", text)


def format_outcome(run: TaskRun) -> str:
    """Return the display text of a run's outcome."""
    if run.undone:
        return _tr("Undone")
    if run.outcome is None:
        return _tr("Running")
    return {
        RunOutcome.MADE: _tr("Done"),
        RunOutcome.NOTHING: _tr("Nothing to do."),
        RunOutcome.GAVE_WAY: _tr("Interrupted"),
        RunOutcome.STOPPED: _tr("Stopped by you"),
        RunOutcome.FAILED: _tr("Failed"),
        RunOutcome.LOST: _tr("Cut off: Lethe was closed"),
    }[run.outcome]


def format_result(run: TaskRun) -> str:
    """Return the result of a run in one line: its summary, else its error, else its outcome."""
    return run.summary or run.trouble or format_outcome(run)
