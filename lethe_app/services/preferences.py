"""Settings of the user: one immutable snapshot, replaced and saved in one place before listeners are notified."""

from __future__ import annotations

import asyncio

from pydantic import ValidationError

from lethe_app.config.settings import Settings
from lethe_app.errors import LetheError
from lethe_app.services.events import Listeners
from lethe_app.storage.database import Database
from lethe_app.storage.files.json_files import SettingsFile


class Preferences:
    """Current settings. `changed` emits the new ones after they were saved."""

    def __init__(self, current: Settings, file: SettingsFile, database: Database) -> None:
        self.current = current
        self.changed: Listeners[Settings] = Listeners()
        self._file = file
        self._database = database
        self._lock = asyncio.Lock()

    async def set(self, **values: object) -> None:
        """Change some settings. Raise LetheError for a value out of bounds; nothing is changed then."""
        async with self._lock:  # the second of two concurrent changes must be based on the first
            changed_settings = self._validate(values)
            if changed_settings == self.current:
                return
            await self._database.run_outside_transaction(lambda: self._file.save(changed_settings))
            self.current = changed_settings
        self.changed.notify(changed_settings)

    def _validate(self, values: dict[str, object]) -> Settings:
        try:
            return Settings.model_validate({**self.current.model_dump(), **values})
        except ValidationError as error:
            first = error.errors()[0]
            field = Settings.model_fields[str(first["loc"][0])]
            title = field.title or str(first["loc"][0])
            is_pattern = first["type"] == "string_pattern_mismatch"  # which explains nothing, but the help text has an example
            reason, remedy = ("", field.description or "") if is_pattern else (f": {first['msg']}", "")
            raise LetheError(f"“{title}” cannot be set to “{first.get('input')}”{reason}.", remedy) from error
