"""Services of the page of all conversations."""

from __future__ import annotations

from dataclasses import dataclass

from lethe_app.services.chat.message_editing import MessageEditing
from lethe_app.services.maintenance.trash import Trash
from lethe_app.services.memory.lookup import MemoryLookup
from lethe_app.services.search.fact_lists import FactLists
from lethe_app.services.sessions.archive_queue import ArchiveQueue
from lethe_app.services.sessions.editing import FactExtraction, SessionEditing
from lethe_app.services.sessions.service import SessionService


@dataclass(frozen=True)
class SessionPageServices:
    """Services that the page of all conversations calls."""

    sessions: SessionService
    session_editing: SessionEditing
    message_editing: MessageEditing
    archive_queue: ArchiveQueue
    fact_extraction: FactExtraction
    lookup: MemoryLookup
    trash: Trash
    fact_lists: FactLists
