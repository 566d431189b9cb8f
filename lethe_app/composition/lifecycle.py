"""Build the services of an open database, collect them in `AppServices`, and define the order in which they close."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from lethe_app.composition.app_services import AppServices, PrivacyServices
from lethe_app.composition.background import BackgroundServices
from lethe_app.composition.core import CoreServices
from lethe_app.domain.model import EngineCheck
from lethe_app.paths import Paths
from lethe_app.services.events import ModelReady
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
    core.models.changed.add(lambda state: core.archive_queue.background.wake() if isinstance(state, ModelReady) else None)
    core.world_purge.purged.add(core.cache_state.forget_persona)
    core.library.user_renamed.add(core.facts.start_renaming)
    core.trash.changed.add(lambda _none: core.memory_cache.reload())  # what is erased takes memories made of it along
    return _collect_services(core, BackgroundServices(core))


def _collect_services(core: CoreServices, background: BackgroundServices) -> AppServices:
    return AppServices(
        paths=core.paths,
        preferences=core.preferences,
        library=core.library,
        sessions=core.sessions,
        session_timeout=core.session_timeout,
        chat=background.chat,
        message_editing=core.message_editing,
        memory_lookup=core.memory_lookup,
        token_counts=core.token_counts,
        group=core.group,
        session_editing=core.session_editing,
        search=core.search,
        trash=core.trash,
        models=core.models,
        doctor=core.doctor,
        privacy=PrivacyServices(background.erasure, background.retention, background.days),
        memory=core.memory,
        memory_lists=core.memory_lists,
        fact_lists=core.fact_lists,
        bundles=core.bundles,
        facts=core.facts,
        documents=core.documents,
        knowledge_base=core.knowledge_base,
        archive_queue=core.archive_queue,
        archive_budget=core.archive_budget,
        indexing=core.indexing,
        prompt_inspector=background.prompt_inspector,
        embedding=core.embedding,
        calibration=core.calibration,
        rolling_summary=core.rolling_summary,
        reply_actions=core.reply_actions,
        reply_sources=core.reply_sources,
        objections=core.objections,
        draft_chat=core.draft_chat,
        qualification=core.qualification,
        presets=core.presets,
        downloads=core.downloads,
        dictation=background.dictation,
        worlds=core.worlds,
        world_trials=core.world_trials,
        web_gate=background.web_gate,
        tool_registry=background.tool_registry,
        tool_turns=background.tool_turns,
        working_memory=background.working_memory,
        research=background.research,
        background_runner=background.background_runner,
        activity_log=core.activity_log,
        dreams=background.dreams,
        enrichment=background.enrichment,
        feedback=background.feedback,
        idleness=background.idleness,
        mind=background.mind,
        cache_state=core.cache_state,
        prefill=background.prefill,
        core=core,
        _close_functions=(*_background_close_functions(background), *_core_close_functions(core, background)),
    )


def _background_close_functions(background: BackgroundServices) -> tuple[Callable[[], Awaitable[None]], ...]:
    """Return the close functions of background services, which come before those of the services they use."""
    mind = (
        background.mind.mood_reader.close,
        background.mind.key_moments.background.close,
        background.mind.reminders.close,
        background.mind.notebook_writer.close,
        background.mind.notebook_selector.background.close,
    )
    return (
        background.enrichment.close,
        background.dictation.close,
        background.working_memory.background.close,
        *mind,
        background.background_runner.close,
        background.research.close,
        background.web_gate.close,
    )


def _core_close_functions(core: CoreServices, background: BackgroundServices) -> tuple[Callable[[], Awaitable[None]], ...]:
    """Return the close functions of background work, then of the models, and last of the database that all of them write to."""
    return (
        core.downloads.close,
        background.retention.close,
        core.trash.background.close,
        core.worlds.close,
        core.facts.close,
        core.backups.close,
        # A service is closed before those it uses: ending sessions needs the timeout and the archive queue.
        core.rolling_summary.close,
        core.sessions.close,
        core.session_timeout.background.close,
        core.archive_queue.background.close,
        core.indexing.background.close,
        background.prefill.close,
        # After prefill has stopped and while the model process still runs, because it saves the state.
        core.cache_state.close,
        core.client.close,
        core.embedding.close,
        # After the last count and before the database.
        core.token_counts.flush,
        core.probe_client.close,
        core.memory_index.close,
        core.database.close,
    )
