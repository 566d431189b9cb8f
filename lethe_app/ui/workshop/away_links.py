"""The ways from a run to what it made: for each kind the page that shows it."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from lethe_app.domain.agents import Made, MadeKind, TaskRun
from lethe_app.ui.workshop import doors
from lethe_app.ui.workshop.place import Place

Opener = Callable[[Place, TaskRun, Made], None]


def memory(place: Place, run: TaskRun, made: Made) -> None:
    """The list of memories, with the cursor on it."""
    from lethe_app.ui.workshop.memory_page import MemoryPage  # noqa: PLC0415 - no page delays another

    page = place.desk.open(lambda: MemoryPage(place), made_by=doors.memories)
    if isinstance(page, MemoryPage):
        page.show_memory(run.persona_id, UUID(made.id))


def persona(place: Place, run: TaskRun, _made: Made) -> None:
    """Her editor."""
    doors.edit_persona(place, run.persona_id)


def change(place: Place, run: TaskRun, _made: Made) -> None:
    """The page on which dreams are decided about."""
    from lethe_app.ui.workshop.dream_page import DreamPage  # noqa: PLC0415 - no page delays another

    page = place.desk.open(lambda: DreamPage(place), made_by=doors.dreams)
    if isinstance(page, DreamPage):
        page.whose.choose(run.persona_id)


def notebook(place: Place, run: TaskRun, made: Made) -> None:
    """The notebook itself, in the list of hers."""
    from lethe_app.ui.workshop.notebook_page import NotebookPage  # noqa: PLC0415 - no page delays another

    page = place.desk.open(lambda: NotebookPage(place), made_by=doors.notebooks)
    if isinstance(page, NotebookPage):
        page.show_notebook(run.persona_id, made.id)


def report(place: Place, _run: TaskRun, made: Made) -> None:
    """The report, among everything that was found out."""
    from lethe_app.ui.workshop.research_page import ResearchPage  # noqa: PLC0415 - no page delays another

    page = place.desk.open(lambda: ResearchPage(place), made_by=doors.research)
    if isinstance(page, ResearchPage):
        page.show_inquiry(UUID(made.id))


OPENERS: dict[MadeKind, Opener] = {
    MadeKind.MEMORY: memory,
    MadeKind.PERSONA: persona,
    MadeKind.CHANGE: change,
    MadeKind.NOTEBOOK: notebook,
    MadeKind.REPORT: report,
}
"""What is not here is only named."""
