"""Build the services of an open database, collect them in `AppServices`, and define the order in which they close."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from lethe_app.composition.app_services import AppServices
from lethe_app.composition.background import BackgroundServices
from lethe_app.composition.core import CoreServices
from lethe_app.domain.model import EngineCheck
from lethe_app.paths import Paths
from lethe_app.services.events import Ready
from lethe_app.services.preferences import Preferences
from lethe_app.storage.database import Database


def build_services(
    paths: Paths,
    engine: str,
    preferences: Preferences,
    database: Database,
    check_window: Callable[[], EngineCheck],
    *,
    by_meaning: bool,
) -> AppServices:
    """Build all services on an open database. Without `by_meaning` there is no embedding model, and memories are found by
    words alone.

    `check_window` checks what the window needs of the system.
    """
    core = CoreServices(paths, engine, preferences, database, check_window, by_meaning=by_meaning)
    core.models.changed.add(lambda state: core.archiving.model_changed() if isinstance(state, Ready) else None)
    core.withdrawing.told.add(core.warmth.forget_persona)
    return _gathered(core, BackgroundServices(core))


def _gathered(made: CoreServices, away: BackgroundServices) -> AppServices:
    return AppServices(
        paths=made.paths,
        preferences=made.preferences,
        library=made.library,
        sessions=made.sessions,
        timeout=made.timeout,
        chat=away.chat,
        message_editing=made.message_editing,
        lookup=made.lookup,
        counting=made.counting,
        group=made.group,
        chronicle=made.chronicle,
        finding=made.finding,
        trash=made.trash,
        models=made.models,
        doctor=made.doctor,
        brain=made.brain,
        browsing=made.browsing,
        bundles=made.bundles,
        knowing=made.knowing,
        archiving=made.archiving,
        indexing=made.indexing,
        inspecting=away.inspecting,
        embedding=made.embedding,
        calibration=made.calibration,
        recapping=made.recapping,
        reconsidering=made.reconsidering,
        reply_sources=made.reply_sources,
        objecting=made.objecting,
        rehearsing=made.draft_chat,
        trust=made.trust,
        presets=made.presets,
        downloads=made.downloads,
        trying=made.model_trial,
        worlds=made.worlds,
        surfing=away.surfing,
        tooling=away.tooling,
        researching=away.researching,
        away=away.away,
        dreams=away.dreams,
        feedback=away.feedback,
        idleness=away.idleness,
        mind=away.mind,
        warmth=made.warmth,
        core=made,
        _client=made.client,
        _embedder=made.probe,
        _database=made.database,
        _ahead=away.ahead,
        _closing=(*_closing_away(away), *_closing_order(made, away)),
    )


def _closing_away(away: BackgroundServices) -> tuple[Callable[[], Awaitable[None]], ...]:
    """Return the close functions of background services, which come before those of the services they use."""
    mind = (away.mind.reader.close, away.mind.reminders.close, away.mind.notekeeping.close, away.mind.subjects.close)
    return (away.workbench.close, *mind, away.away.close, away.researching.close, away.surfing.close)


def _closing_order(made: CoreServices, away: BackgroundServices) -> tuple[Callable[[], Awaitable[None]], ...]:
    """Return the close functions of background work, then of the models, and last of the database that all of them write to."""
    return (
        made.downloads.close,
        made.trash.close,
        made.worlds.close,
        made.backups.close,
        # A service is closed before those it uses: ending sessions needs the timeout and the archive queue.
        made.recapping.close,
        made.sessions.close,
        made.timeout.close,
        made.archiving.close,
        made.indexing.close,
        away.ahead.close,
        # After prefill has stopped and while the model process still runs, because it saves the state.
        made.warmth.close,
        made.client.close,
        made.embedding.close,
        # After the last count and before the database.
        made.counting.flush,
        made.probe.close,
        made.recall.close,
        made.database.close,
    )
