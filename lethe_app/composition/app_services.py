"""All application services, and the order in which they start and close."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property

from lethe_app.composition.background import BackgroundServices
from lethe_app.composition.creation import service
from lethe_app.domain.model import EngineCheck
from lethe_app.errors import LetheError
from lethe_app.paths import Paths
from lethe_app.services.events import ModelReady
from lethe_app.services.preferences import Preferences
from lethe_app.services.sessions.editing import FactExtraction
from lethe_app.services.speech.session_speech import SessionSpeech
from lethe_app.storage.database import Database

INDEX_AFTER, ARCHIVE_AFTER, AWAY_AFTER, PURGE_AFTER, REMIND_AFTER, TIMEOUT_AFTER = 2.0, 20.0, 10.0, 60.0, 5.0, 8.0
CHECK_AFTER = 12.0
"""Delays of the background services after the start in seconds, so that they do not slow down the start and the first reply."""
BUILT_WHEN_USED = {"imports", "card_export"}
"""Services that read formats of other programs; loading them takes a tenth of a second, and they are rarely needed."""


class AppServices(BackgroundServices):
    """All application services; the only object that the window and the terminal receive."""

    def __init__(
        self,
        paths: Paths,
        engine: str,
        preferences: Preferences,
        database: Database,
        check_window: Callable[[], EngineCheck],
        *,
        by_meaning: bool,
        notices: Sequence[LetheError] = (),
    ) -> None:
        """Build all services on an open database. Without `by_meaning` there is no embedding model, and memories are found by
        words alone.

        `check_window` checks what the window needs of the system. `notices` say what was found in the home at the start.
        """
        self.notices = notices
        super().__init__(paths, engine, preferences, database, check_window, by_meaning=by_meaning)
        self.models.changed.add(lambda state: self.archive_queue.background.wake() if isinstance(state, ModelReady) else None)
        self.world_purge.purged.add(self.cache_state.forget_persona)
        self.library.user_renamed.add(self.facts.start_renaming)
        self.trash.changed.add(lambda _none: self.memory_cache.reload())  # what is erased takes memories made of it along
        for kind in type(self).mro():
            for name, member in vars(kind).items():
                if isinstance(member, cached_property) and name not in BUILT_WHEN_USED:
                    getattr(self, name)

    fact_extraction = service(FactExtraction)
    session_speech = service(SessionSpeech)

    def start_background(self) -> None:
        """Start all background services."""
        self.indexing.background.start(INDEX_AFTER)
        self.archive_queue.background.start(ARCHIVE_AFTER)
        self.session_timeout.background.start(TIMEOUT_AFTER)
        self.rolling_summary.background.start()
        self.trash.background.start(PURGE_AFTER)
        self.retention.background.start(PURGE_AFTER)
        self.key_moments.background.start(PURGE_AFTER)
        self.background_runner.background.start(AWAY_AFTER)
        self.working_memory.background.start(ARCHIVE_AFTER)
        self.enrichment.background.start(ARCHIVE_AFTER)
        self.mood_reader.background.start(ARCHIVE_AFTER)
        self.reminders.background.start(REMIND_AFTER)
        self.notebook_writer.background.start(ARCHIVE_AFTER)
        self.notebook_selector.background.start(INDEX_AFTER)
        self.integrity.background.start(CHECK_AFTER)

    async def close(self) -> None:
        """Close all services in order: background work first, then the model processes, and the database last."""
        for close in self._close_functions():
            await close()

    def _close_functions(self) -> tuple[Callable[[], Awaitable[None]], ...]:
        """Return the functions that close services, each before those of the services it uses."""
        return (
            self.integrity.background.close,
            self.enrichment.background.close,
            self.dictation.close,
            self.working_memory.background.close,
            self.mood_reader.background.close,
            self.key_moments.background.close,
            self.reminders.close,
            self.notebook_writer.close,
            self.notebook_selector.background.close,
            self.background_runner.background.close,
            self.research.close,
            self.web_gate.close,
            self.downloads.close,
            self.retention.close,
            self.trash.background.close,
            self.facts.close,
            self.backups.close,
            self.rolling_summary.background.close,
            self.sessions.close,  # ending sessions needs the timeout and the archive queue
            self.session_timeout.background.close,
            self.archive_queue.background.close,
            self.indexing.background.close,
            self.prefill.close,
            self.cache_state.close,  # saves the state: prefill has stopped, and the model process still runs
            self.client.close,
            self.model_trial.end_preview,
            self.embedding.close,
            self.token_counts.flush,  # after the last count and before the database
            self.probe_client.close,
            self.memory_index.close,
            self.database.close,
        )
