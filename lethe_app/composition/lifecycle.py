"""Hands out all services, each built with what it needs, and the order in which they are closed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from lethe_app.composition.app_services import AppServices
from lethe_app.composition.background import BackgroundServices
from lethe_app.composition.core import CoreServices
from lethe_app.domain.model import EngineCheck
from lethe_app.llm.client import ModelClient
from lethe_app.paths import Paths
from lethe_app.services.events import Ready
from lethe_app.services.maintenance.backups import BackupService
from lethe_app.services.maintenance.doctor import Doctor
from lethe_app.services.maintenance.trash import Trash
from lethe_app.services.memory.macro_values import MacroValues
from lethe_app.services.models.downloads import Downloads
from lethe_app.services.models.trial import ModelTrial
from lethe_app.services.personas.draft_chat import DraftChat
from lethe_app.services.personas.presets import Presets
from lethe_app.services.preferences import Preferences
from lethe_app.services.tools.instructions import ToolNote
from lethe_app.storage.database import Database


def furnish(
    paths: Paths,
    engine: str,
    preferences: Preferences,
    database: Database,
    check_window: Callable[[], EngineCheck],
    *,
    by_meaning: bool,
) -> AppServices:
    """All rooms of a home whose database is open; without `by_meaning` memories are found by words alone."""
    made = CoreServices(paths, engine, preferences, database, by_meaning=by_meaning)
    away = _introduced(made, BackgroundServices(made))
    probe, safekeeping, downloads = ModelClient("embed"), BackupService(database.path), Downloads(paths, preferences)
    trash = _trash(made, presets := Presets(paths, database, made.library.changed))
    return AppServices(
        paths=paths,
        preferences=preferences,
        library=made.library,
        sessions=made.sessions,
        timeout=made.timeout,
        chat=made.chat,
        group=made.group,
        chronicle=made.chronicle,
        finding=made.finding,
        trash=trash,
        models=made.models,
        doctor=Doctor(paths, made.library, made.models, probe, made.calibration, check_window),
        brain=made.brain,
        browsing=made.browsing,
        bundles=made.bundles,
        knowing=made.knowing,
        archiving=made.archiving,
        indexing=made.indexing,
        inspecting=made.inspecting,
        embedding=made.embedding,
        calibration=made.calibration,
        recapping=made.recapping,
        reconsidering=made.reconsidering,
        objecting=made.objecting,
        rehearsing=DraftChat(made.library, made.sessions, made.app_state),
        trust=made.trust,
        presets=presets,
        downloads=downloads,
        trying=ModelTrial(made.client, made.loaded, made.prompting.form),
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
        _client=made.client,
        _embedder=probe,
        _database=database,
        _ahead=made.ahead,
        _closing=(*_closing_away(away), *_closing_order(made, downloads, trash, safekeeping, probe)),
    )


def _trash(made: CoreServices, presets: Presets) -> Trash:
    kept = (made.sessions, made.chronicle, made.brain, made.knowing, made.indexing)
    return Trash(made.paths, made.database, made.chats, made.library, presets, *kept, made.preferences, made.notebooks)


def _introduced(made: CoreServices, away: BackgroundServices) -> BackgroundServices:
    """Services that are to hear of each other without knowing each other; the second wiring is handed back."""
    made.remembering.look_up = away.looking_up.of_turn
    made.chat.tooling, made.prompting.offered = away.tooling, away.tooling.offered
    made.frames.explained = ToolNote(made.prompting, made.preferences, (made.paths.own_prompts, made.paths.prompts)).note_for
    made.prompting.fill = made.sessions.fill = MacroValues(made.chats, made.holdings, made.keeping, made.foreign).fill
    made.archiving.recorded = away.archive_log.carry_out
    made.models.changed.add(lambda state: made.archiving.model_changed() if isinstance(state, Ready) else None)
    made.frames.renewed.add(made.warmth.forget_persona)
    made.holdings.forgotten.add(made.warmth.forget_persona)
    made.library.deleted.add(made.warmth.forget_persona)
    made.withdrawing.told.add(made.warmth.forget_persona)
    return away


def _closing_away(away: BackgroundServices) -> tuple[Callable[[], Awaitable[None]], ...]:
    """What works while the user is away, before everything it works with."""
    mind = (away.mind.reader.close, away.mind.reminders.close, away.mind.notekeeping.close, away.mind.subjects.close)
    return (away.workbench.close, *mind, away.away.close, away.researching.close, away.surfing.close)


def _closing_order(
    made: CoreServices, downloads: Downloads, trash: Trash, safekeeping: BackupService, probe: ModelClient
) -> tuple[Callable[[], Awaitable[None]], ...]:
    """What works unasked first, then the models, and last the database that all of them write to."""
    return (
        downloads.close,
        trash.close,
        made.worlds.close,
        safekeeping.close,
        made.recapping.close,
        made.sessions.close,
        made.timeout.close,
        made.archiving.close,
        made.indexing.close,
        made.ahead.close,
        made.warmth.close,
        made.client.close,
        made.embedding.close,
        probe.close,
        made.recall.close,
        made.database.close,
    )
