"""Export and import of a persona's notebooks, mood and goal requests as part of a bundle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from lethe_app.brain.notebooks import document
from lethe_app.brain.notebooks.document import NotebookIndexEntry
from lethe_app.domain.bundle import BundledMind, PersonaHistory
from lethe_app.interchange.bundles import is_member_name
from lethe_app.paths import Paths
from lethe_app.services.mood import HISTORY, MOODS, READINGS, MoodService
from lethe_app.services.personas.inner_life import SCOPE as GOAL_REQUESTS
from lethe_app.storage.database import Database
from lethe_app.storage.files.file_names import unique_stem
from lethe_app.storage.files.notebooks import INDEX, SUFFIX, NotebookFiles
from lethe_app.storage.key_value import AppState


class MindTransfer:
    """Read notebooks, mood and goal requests for a bundle and write them on import. Files are accessed in the storage
    thread.
    """

    def __init__(self, paths: Paths, database: Database, app_state: AppState, moods: MoodService) -> None:
        self._files = NotebookFiles(paths.notebooks, paths.trash)
        self._database, self._app_state, self._moods = database, app_state, moods

    # Export

    async def measure_notebooks(self, persona_id: str) -> tuple[int, int]:
        """Return the number of the persona's readable notebooks and their total length in characters."""
        texts = (await self._database.run_outside_transaction(lambda: self._files.read_all(persona_id))).texts
        return len(texts), sum(map(len, texts.values()))

    async def add_mind(self, persona_id: str, history: PersonaHistory, *, with_sessions: bool) -> PersonaHistory:
        """Return `history` completed with the persona's notebooks, mood and goal requests.

        Without `with_sessions`, references to sessions and the mood readings are left out. Raise FileError if a notebook
        cannot be read.
        """
        notebooks, index = await self._database.run_outside_transaction(lambda: self._pack_notebooks(persona_id))
        mind = await self._load_mind(persona_id)
        return replace(
            history, notebooks=notebooks, notebook_index=index, mind=mind if with_sessions else _remove_session_references(mind)
        )

    def _pack_notebooks(self, persona_id: str) -> tuple[dict[str, str], str]:
        notebooks = self._files.read_all(persona_id)
        if notebooks.errors:
            raise notebooks.errors[0]
        names: dict[str, str] = {}
        # Names that the bundle format allows keep their name, so they are assigned first; others get a name derived from
        # their own.
        for name in sorted(notebooks.texts, key=lambda name: not is_member_name(name)):
            names[name] = name if is_member_name(name) else unique_stem(name, [*names.values(), Path(INDEX).stem])
        index_entries = _rename_index_entries(self._files.read_index(persona_id), names)
        return {names[name]: text for name, text in notebooks.texts.items()}, document.render_index(index_entries)

    async def _load_mind(self, persona_id: str) -> BundledMind:
        """Return the persona's mood and goal requests; values of a format this version does not know are left out."""
        stored = await self._app_state.get(GOAL_REQUESTS, persona_id)
        goal_fields = stored if isinstance(stored, dict) else {}
        return BundledMind(
            mood=await self._moods.load_stored(persona_id),
            samples=await self._moods.load_samples(persona_id),
            readings=await self._moods.load_readings(persona_id),
            goal_request=str(goal_fields.get("request", "")),
            goal_notice=str(goal_fields.get("notice", "")),
        )

    # Import

    def write_notebooks(self, persona_id: str, history: PersonaHistory, written_files: list[Path]) -> None:
        """Write all of the persona's notebooks, or none; a name that is taken is replaced by a free one. Runs in the storage
        thread.

        The files are appended to `written_files` before they are created, so that the caller can remove them if a later step
        fails.
        """
        if not history.notebooks:
            return
        taken_names = [*self._files.read_all(persona_id).texts, Path(INDEX).stem]
        names: dict[str, str] = {}
        for name in history.notebooks:
            names[name] = unique_stem(name, [*taken_names, *names.values()])
        index_entries = document.update_index(
            document.parse_index(self._files.read_index(persona_id)), _rename_index_entries(history.notebook_index, names)
        )
        texts = {names[name]: text for name, text in history.notebooks.items()}
        folder = self._files.folder(persona_id)
        written_files += [folder / f"{name}{SUFFIX}" for name in texts] if folder.exists() else [folder]
        self._files.replace_notebooks(persona_id, (), texts, document.render_index(index_entries))


def build_app_state(mind: BundledMind, persona_id: str) -> dict[tuple[str, str], object]:
    """Return the app state values of a persona's mood and goal requests by scope and key; None means that there is none."""
    goal_fields = {"request": mind.goal_request, "notice": mind.goal_notice}
    return {
        (MOODS, persona_id): mind.mood.model_dump(mode="json") if mind.mood is not None else None,
        (HISTORY, persona_id): [sample.model_dump(mode="json") for sample in mind.samples],
        (READINGS, persona_id): [reading.model_dump(mode="json") for reading in mind.readings],
        (GOAL_REQUESTS, persona_id): goal_fields if any(goal_fields.values()) else None,
    }


def _rename_index_entries(index: str, names: Mapping[str, str]) -> list[NotebookIndexEntry]:
    """Return the entries of the notebook index under the new names. Entries of notebooks that no longer exist are dropped."""
    return [replace(entry, name=names[entry.name]) for entry in document.parse_index(index) if entry.name in names]


def _remove_session_references(mind: BundledMind) -> BundledMind:
    """Return the mood without references to sessions and messages, and without the readings that models took from them."""
    mood = mind.mood.model_copy(update={"session": None, "message": None, "said": ""}) if mind.mood is not None else None
    samples = [sample.model_copy(update={"session": None}) for sample in mind.samples]
    return mind.model_copy(update={"mood": mood, "samples": samples, "readings": []})
