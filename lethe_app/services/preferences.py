"""Settings of the user: one immutable snapshot, replaced and saved in one place before listeners are notified."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from lethe_app.brain.text.identifiers import redact_identifiers
from lethe_app.config.options import MemoryProfile, SessionHandling
from lethe_app.config.settings import Settings
from lethe_app.errors import LetheError, ModelMissing
from lethe_app.llm.engines.registry import describe_usable_model
from lethe_app.services.events import Listeners
from lethe_app.storage.database import Database
from lethe_app.storage.files.json_files import SettingsFile

RECALL_OFF: dict[str, object] = {
    "rag_enabled": False,
    "keyword_retrieval": False,
    "recall_without_match": 0,
    "session_memory_system": False,
    "session_handling": SessionHandling.CURRENT_ONLY,
    "core_facts_tokens": 0,
    "proactive_messages": False,
}
"""Settings while nothing of other conversations is recalled."""
LEARNING_OFF: dict[str, object] = {"fact_retrieval": False, "notebooks": False, "agents": False, "session_notes": False}
"""Settings while nothing is learnt."""
SMALL_MEMORY = 3 << 30
"""Bytes of memory below which a computer counts as small."""
SMALL_CONTEXT, SMALL_BATCH = 4096, 128
"""Context size in tokens of the small profile where none was set, and its maximum batch size."""
MODEL_PATHS = {"model_path": False, "embedder_path": True}
"""Settings that name a model file, and whether it creates embeddings."""

CONTEXT_OFF: dict[str, object] = {"kept_states": 0}
"""Settings while recalled texts are not stored; a saved KV cache state contains them."""


class Preferences:
    """Current settings. `changed` emits the new ones after they were saved."""

    def __init__(self, current: Settings, file: SettingsFile, database: Database, memory: int = 0) -> None:
        """Create the preferences; `memory` is that of the computer in bytes, 0 if it is unknown."""
        self.memory = memory
        self.stored = current
        """Settings as the user chose them."""
        self.current = self._apply(current)
        """Settings that apply: while there is no memory, its settings are off, and on a small computer those of the model are
        modest.
        """
        self.changed: Listeners[Settings] = Listeners()
        self._file = file
        self.unusable = file.problems
        """Values of the settings file that cannot be used."""
        self._database = database
        self._lock = asyncio.Lock()

    @property
    def is_small_computer(self) -> bool:
        """Return whether the small memory profile is in use, chosen by the user or because the computer has little memory."""
        return is_small(self.stored, self.memory)

    async def set(self, **values: object) -> None:
        """Change some settings. Raise LetheError for a value out of bounds and for a model file that cannot be used; nothing is
        changed then.
        """
        async with self._lock:  # the second of two concurrent changes must be based on the first
            changed_settings = self._validate(values)
            if changed_settings == self.stored:
                return
            await asyncio.to_thread(check_model_paths, self.stored, changed_settings)
            await self._database.run_outside_transaction(lambda: self._file.save(changed_settings))
            self.stored, self.current = changed_settings, self._apply(changed_settings)
        self.changed.notify(self.current)

    def redact(self, text: str) -> str:
        """Return what is stored of a text of the user: without identifying data, if the user wants that."""
        return redact_identifiers(text) if self.current.redact_identifiers else text

    def _apply(self, settings: Settings) -> Settings:
        return apply_privacy(apply_small_profile(settings) if is_small(settings, self.memory) else settings)

    def _validate(self, values: dict[str, object]) -> Settings:
        try:
            return Settings.model_validate({**self.stored.model_dump(), **values})
        except ValidationError as error:
            first = error.errors()[0]
            field = Settings.model_fields[str(first["loc"][0])]
            title = field.title or str(first["loc"][0])
            is_pattern = first["type"] == "string_pattern_mismatch"  # which explains nothing, but the help text has an example
            reason, remedy = ("", field.description or "") if is_pattern else (f": {first['msg']}", "")
            raise LetheError(f"“{title}” cannot be set to “{first.get('input')}”{reason}.", remedy) from error


def check_model_paths(before: Settings, after: Settings) -> None:
    """Raise ModelUnreadable for a newly chosen model file that cannot be used. One that does not exist is accepted: its disk
    may not be connected.
    """
    for name, embeds_texts in MODEL_PATHS.items():
        path = getattr(after, name)
        if path and path != getattr(before, name):
            with suppress(ModelMissing):
                describe_usable_model(Path(path), embeds_texts=embeds_texts)


def is_small(settings: Settings, memory: int) -> bool:
    """Return whether the small memory profile applies on a computer with `memory` bytes, 0 if unknown."""
    if settings.memory_profile is MemoryProfile.AUTOMATIC:
        return 0 < memory < SMALL_MEMORY
    return settings.memory_profile is MemoryProfile.SMALL


def apply_small_profile(settings: Settings) -> Settings:
    """Return the settings that apply on a small computer: a context that the user set is kept."""
    return settings.model_copy(update={"context": settings.context or SMALL_CONTEXT, "batch": min(settings.batch, SMALL_BATCH)})


def apply_privacy(settings: Settings) -> Settings:
    """Return the settings that apply: without memory, or without that of other conversations, others are off."""
    changes = {} if settings.recalls_memories else dict(RECALL_OFF)
    changes |= {} if settings.memory_enabled else LEARNING_OFF
    changes |= {} if settings.keep_retrieved_context else CONTEXT_OFF
    return settings.model_copy(update=changes) if changes else settings
