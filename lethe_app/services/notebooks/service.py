"""Notebooks of personas as the user edits them. They are files that may be changed elsewhere and are therefore read every
time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar

from lethe_app.brain.notebooks import document as writing
from lethe_app.brain.notebooks import splitting as parting
from lethe_app.brain.notebooks.document import Conclusion, Notebook, NotebookIndexEntry
from lethe_app.brain.notebooks.outdated_lines import FactHistory, LineRevision, RemovedLine, has_users_text
from lethe_app.brain.notebooks.splitting import NotebookPiece
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.domain.clock import now
from lethe_app.errors import FileError, LetheError
from lethe_app.paths import Paths
from lethe_app.services.events import Listeners
from lethe_app.storage.database import Database
from lethe_app.storage.error_translation import translate_errors
from lethe_app.storage.files.notebooks import NotebookFiles

T = TypeVar("T")
MAX_TITLE_CHARACTERS = 80
"""Maximum length of a title in characters."""


@dataclass(frozen=True)
class NotebookListItem:
    """Notebook in a list, with the time and the summary of its last automatic entry."""

    notebook: Notebook
    when: datetime | None
    """None if unknown."""
    summary: str = ""

    @property
    def name(self) -> str:
        return self.notebook.name

    @property
    def has_text_only(self) -> bool:
        """Return whether the user wrote text in it of which nothing is a line, so that none of it is used."""
        return not self.notebook.lines and has_users_text(self.notebook)


class NotebookService:
    """Read and write notebooks. `changed` emits the persona. File access runs in the storage thread, so that it never blocks
    the window.
    """

    def __init__(self, paths: Paths, database: Database, on_lines_removed: Callable[[str], object]) -> None:
        """`on_lines_removed` is called with a persona when lines may have been removed, to have the persona's prompts made
        again.
        """
        self.changed: Listeners[str] = Listeners()
        self._files = NotebookFiles(paths.notebooks, paths.trash)
        self._database = database
        self._on_lines_removed = on_lines_removed
        self._parsed: dict[tuple[str, str], tuple[str, Notebook]] = {}
        self._removed_lines: dict[str, list[RemovedLine]] = {}
        """Lines removed since the start because their fact was forgotten, by persona, in case that is undone."""
        self._erased_names: set[tuple[str, str]] = set()
        """Personas and names of the notebooks that were deleted since the start with their last line."""
        self.folder = self._files.folder
        """Return the folder of a persona's notebooks."""

    # Reading

    async def notebooks_of(self, persona_id: str) -> list[NotebookListItem]:
        """Return the notebooks that can be read, the most recently written first."""

        def work() -> list[NotebookListItem]:
            recents = {entry.name: (entry.when, entry.summary) for entry in self._read_index(persona_id)}
            return [
                NotebookListItem(notebook, *recents.get(notebook.name, (None, ""))) for notebook in self.read_all(persona_id)
            ]

        items = await self._database.run_outside_transaction(work)
        return sorted(
            items, key=lambda item: (item.when is None, -item.when.timestamp() if item.when else 0, item.notebook.title)
        )

    def read_all(self, persona_id: str) -> list[Notebook]:
        """Return the notebooks of a persona that can be read; to be called in the storage thread."""
        return [self._parse(persona_id, name, text) for name, text in self._files.read_all(persona_id).texts.items()]

    async def list_errors(self, persona_id: str) -> list[FileError]:
        """Return the errors of the files that cannot be read. The files are left unchanged."""
        return (await self._database.run_outside_transaction(lambda: self._files.read_all(persona_id))).errors

    async def load_text(self, persona_id: str, name: str) -> str:
        """Return the text of a notebook's file. Raise FileError."""
        return await self._database.run_outside_transaction(lambda: self._files.read_text(persona_id, name))

    async def load_texts(self, persona_id: str) -> dict[str, str]:
        """Return the texts of all files that can be read, by name."""
        return await self._database.run_outside_transaction(lambda: dict(self._files.read_all(persona_id).texts))

    # Writing

    async def create(
        self,
        persona_id: str,
        title: str,
        conclusions: Sequence[Conclusion] = (),
        summary: str = "",
        *,
        is_automatic: bool = False,
    ) -> str:
        """Create a notebook and return its name. One that `is_automatic` goes with its last line. Raise LetheError if the title
        is empty.
        """
        title = normalize_title(title)

        def work() -> str:
            name = self._files.free_name(persona_id, title)
            text = writing.render_new_notebook(title, [writing.to_line(conclusion) for conclusion in conclusions])
            self._replace_files(persona_id, [], {name: text}, summary, are_automatic=is_automatic)
            return name

        return await self._run_and_notify(persona_id, work, only_added=True)

    async def add_conclusions(self, persona_id: str, name: str, conclusions: Sequence[Conclusion], summary: str = "") -> int:
        """Add conclusions that the notebook does not contain yet; return the number of new lines. Raise FileError, with
        nothing changed.
        """

        def work() -> int:
            count_before = len(writing.parse_notebook(name, self._files.read_text(persona_id, name)).lines)
            text = self._files.write(persona_id, name, lambda there: writing.append_conclusions(there, name, conclusions))
            self._update_index(persona_id, [NotebookIndexEntry(now(), name, summary)])
            return len(writing.parse_notebook(name, text).lines) - count_before

        return await self._run_and_notify(persona_id, work, only_added=True)

    async def save_edit(self, persona_id: str, name: str, text: str, base: str) -> str:
        """Store the user's edit of a text; `base` is the text at the start of editing. Lines added to the file since then
        are kept.

        Return the text of the file now.
        """

        def work() -> str:
            self._files.write_automatic(persona_id, self._files.read_automatic(persona_id) - {name})
            return self._files.write(persona_id, name, lambda there: writing.merge_edits(base, text, there))

        return await self._run_and_notify(persona_id, work)

    async def rename(self, persona_id: str, name: str, title: str) -> str:
        """Change the title and the file name; return the new name. The text below the title stays the same."""
        title = normalize_title(title)

        def work() -> str:
            text = self._files.read_text(persona_id, name)
            notebook = writing.parse_notebook(name, text)
            new_head = notebook.head.replace(f"# {notebook.title}", f"# {title}", 1)
            if new_head == notebook.head and notebook.title != title:
                new_head = f"# {title}\n\n{notebook.head}".rstrip("\n") + "\n"
            new_text = writing.render_notebook(Notebook(name, title, new_head, notebook.lines))
            new_name = self._files.free_name(persona_id, title)
            self._replace_files(persona_id, [name], {new_name: new_text}, self._summary_of(persona_id, name))
            return new_name

        return await self._run_and_notify(persona_id, work)

    async def delete(self, persona_id: str, name: str) -> Path:
        """Move a notebook to the trash; return its path there."""

        def work() -> Path:
            trashed = self._files.delete(persona_id, name)
            self._files.write_automatic(persona_id, self._files.read_automatic(persona_id) - {name})
            return trashed

        return await self._run_and_notify(persona_id, work)

    async def restore(self, trashed: Path) -> str:
        """Restore a notebook from the trash; return its name."""
        persona_id, name = await self._database.run_outside_transaction(lambda: self._files.restore(trashed))
        await self._notify_removed(persona_id)
        return name

    async def erase_all(self, persona_id: str) -> None:
        """Delete all notebooks of a persona that was permanently deleted."""
        self._removed_lines.pop(persona_id, None)
        await self._database.run_outside_transaction(lambda: self._files.erase_all(persona_id))

    async def merge(self, persona_id: str, names: Sequence[str], title: str = "") -> str:
        """Merge several notebooks into one, with all lines in the order of their days; return its name. Raise LetheError for
        fewer than two.
        """
        if len(set(names)) < 2:
            raise LetheError("At least two notebooks are needed to merge them.")

        def work() -> str:
            books = [writing.parse_notebook(name, self._files.read_text(persona_id, name)) for name in dict.fromkeys(names)]
            first, *_others = books
            lines = [line for book in books for line in book.lines]
            dated = sorted(lines, key=lambda line: (line.day is not None, line.day.isoformat() if line.day else ""))
            text = parting.render_pieces(first, [NotebookPiece(title or first.title, tuple(dated))])[0]
            for book in books[1:]:
                intro = "\n".join(row for row in book.head.split("\n") if not row.startswith("# ")).strip()
                text += f"\n{intro}\n" if intro else ""
            new_name = self._files.free_name(persona_id, title or first.title)
            self._replace_files(persona_id, names, {new_name: text}, self._summary_of(persona_id, first.name))
            return new_name

        return await self._run_and_notify(persona_id, work)

    async def split(self, persona_id: str, notebook: Notebook, pieces: Sequence[NotebookPiece]) -> list[str]:
        """Replace a notebook by several, and move its file to the trash; return their names.

        Raise LetheError, with nothing changed, if the file was changed in the meantime.
        """

        def work() -> list[str]:
            if self._files.read_text(persona_id, notebook.name) != writing.render_notebook(notebook):
                raise LetheError(f"“{notebook.title}” was changed in the meantime.", "Split it again.")
            new_texts: dict[str, str] = {}
            for piece, text in zip(pieces, parting.render_pieces(notebook, pieces), strict=True):
                name = self._files.free_name(persona_id, piece.title)
                while name in new_texts:
                    name += "-2"
                new_texts[name] = text
            summary, is_automatic = self._summary_of(persona_id, notebook.name), self._is_automatic(persona_id, notebook)
            self._replace_files(persona_id, [notebook.name], new_texts, summary, are_automatic=is_automatic)
            return list(new_texts)

        return await self._run_and_notify(persona_id, work)

    async def restore_texts(self, persona_id: str, removed_names: Sequence[str], texts: Mapping[str, str]) -> None:
        """Restore notebooks as they were before a split, merge or rename; the files in `removed_names` go to the trash."""

        def work() -> None:
            present = self._files.read_all(persona_id).texts
            self._replace_files(persona_id, [name for name in removed_names if name in present], dict(texts), "")

        await self._run_and_notify(persona_id, work)

    async def revise_lines(self, persona_id: str, history: FactHistory) -> int:
        """Remove the lines whose fact was forgotten, and replace those of superseded and reworded facts by what holds now;
        return the number of changed notebooks. A line comes back if its fact was forgotten since the start and is known again.
        """
        removed_lines = self._removed_lines.setdefault(persona_id, [])
        is_outdated = history.tombstones or history.former_wordings or history.dormant
        if not is_outdated and not removed_lines and not any(fact.superseded for fact in history.facts):
            return 0

        def revise(notebooks: Sequence[Notebook]) -> list[Notebook]:
            revision = LineRevision(history)
            # A notebook that the user has deleted or renamed since does not come back.
            names = {notebook.name for notebook in notebooks}
            restorable = [
                one
                for one in removed_lines
                if one.notebook.name in names or (persona_id, one.notebook.name) in self._erased_names
            ]
            restored = revision.restore(notebooks, restorable)
            current = {notebook.name: notebook for notebook in (*notebooks, *restored)}
            revised = revision.revise(list(current.values()))
            removed_lines[:] = [one for one in removed_lines if not revision.holds_again(one)] + revision.removed_lines
            return list({notebook.name: notebook for notebook in (*restored, *revised)}.values())

        return await self._revise(persona_id, revise)

    async def delete_day(self, persona_id: str, day: date) -> int:
        """Remove the lines of a day, and the summaries of notebooks that were written then or on the day after; return the
        number of changed notebooks.
        """

        def update_index() -> None:
            recents = self._read_index(persona_id)
            kept = [one for one in recents if not day <= one.when.astimezone().date() <= day + timedelta(days=1)]
            if len(kept) < len(recents):
                self._write_index(persona_id, kept)

        await self._database.run_outside_transaction(update_index)

        def remove_lines(notebooks: Sequence[Notebook]) -> list[Notebook]:
            remaining = [tuple(line for line in notebook.lines if line.day != day) for notebook in notebooks]
            return [
                replace(notebook, lines=lines)
                for notebook, lines in zip(notebooks, remaining, strict=True)
                if lines != notebook.lines
            ]

        return await self._revise(persona_id, remove_lines)

    async def _revise(self, persona_id: str, revise: Callable[[Sequence[Notebook]], Sequence[Notebook]]) -> int:
        """Store the notebooks that `revise` changes or creates again, and delete those that the user neither made nor edited
        and that have lost their last line; return their number.
        """

        def work() -> int:
            notebooks = {notebook.name: notebook for notebook in self.read_all(persona_id)}
            revised = revise(list(notebooks.values()))
            removed_words = {
                notebook.name: find_removed_words(notebooks.get(notebook.name, notebook), notebook) for notebook in revised
            }
            self._blank_summaries(persona_id, removed_words)
            for notebook in revised:
                text = writing.render_notebook(notebook).rstrip("\n") + "\n"
                if notebook.name not in notebooks:
                    self._replace_files(persona_id, [], {notebook.name: text}, "", are_automatic=True)
                elif has_users_text(notebooks[notebook.name]) or not self._is_automatic(persona_id, notebook):
                    self._files.write(persona_id, notebook.name, partial(_replacement_text, text))
                elif not notebook.lines:
                    self._erase(persona_id, notebook.name)
                elif content_words(notebook.title).isdisjoint(removed_words[notebook.name]):
                    self._files.write(persona_id, notebook.name, partial(_replacement_text, text))
                else:
                    self._retitle(persona_id, notebook)
            return len(revised)

        revised_count = await self._run(persona_id, work)
        if revised_count:
            await self._notify_removed(persona_id)
        return revised_count

    # Access to the files, in the storage thread

    def _parse(self, persona_id: str, name: str, text: str) -> Notebook:
        """Return the parsed notebook; the same object as long as its text is the same."""
        known = self._parsed.get((persona_id, name))
        if known is None or known[0] != text:
            known = self._parsed[persona_id, name] = (text, writing.parse_notebook(name, text))
        return known[1]

    def _read_index(self, persona_id: str) -> list[NotebookIndexEntry]:
        """Return the entries of the index, newest first."""
        return writing.parse_index(self._files.read_index(persona_id))

    def _write_index(self, persona_id: str, entries: Sequence[NotebookIndexEntry]) -> None:
        self._files.write_index(persona_id, writing.render_index(entries))

    def _blank_summaries(self, persona_id: str, removed_words: Mapping[str, Collection[str]]) -> None:
        """Remove summaries with words that only removed lines of the notebook had from the index."""
        entries = self._read_index(persona_id)
        blanked = [
            one if content_words(one.summary).isdisjoint(removed_words.get(one.name, ())) else replace(one, summary="")
            for one in entries
        ]
        if blanked != entries:
            self._write_index(persona_id, blanked)

    def _retitle(self, persona_id: str, notebook: Notebook) -> None:
        """Replace an automatic notebook by one that is named after its first day, because its title was about removed lines."""
        day = next((line.day for line in notebook.lines if line.day is not None), now().date())
        title = f"Notes of {day.isoformat()}"
        text = writing.render_notebook(replace(notebook, title=title, head=f"# {title}\n")).rstrip("\n") + "\n"
        self._replace_files(persona_id, [], {self._files.free_name(persona_id, title): text}, "", are_automatic=True)
        self._erase(persona_id, notebook.name)

    def _is_automatic(self, persona_id: str, notebook: Notebook) -> bool:
        return notebook.name in self._files.read_automatic(persona_id)

    def _erase(self, persona_id: str, name: str) -> None:
        self._files.erase(persona_id, name)
        self._erased_names.add((persona_id, name))
        self._files.write_automatic(persona_id, self._files.read_automatic(persona_id) - {name})
        self._update_index(persona_id, [])

    def _replace_files(
        self,
        persona_id: str,
        removed_names: Sequence[str],
        new_texts: dict[str, str],
        summary: str,
        *,
        are_automatic: bool = False,
    ) -> None:
        recents = self._read_index(persona_id)
        written_times = [recent.when for recent in recents if recent.name in removed_names]
        when = max(written_times) if written_times else now()
        new_recents = [NotebookIndexEntry(when, name, summary) for name in new_texts]
        self._files.replace_notebooks(
            persona_id,
            removed_names,
            new_texts,
            writing.render_index(writing.update_index(recents, new_recents, removed_names)),
        )
        automatic = self._files.read_automatic(persona_id) - {*removed_names, *new_texts}
        self._files.write_automatic(persona_id, automatic | (new_texts.keys() if are_automatic else set()))

    def _update_index(self, persona_id: str, new_recents: Sequence[NotebookIndexEntry]) -> None:
        recents = self._read_index(persona_id)
        texts = self._files.read_all(persona_id).texts
        removed_names = [recent.name for recent in recents if recent.name not in texts]
        self._write_index(persona_id, writing.update_index(recents, new_recents, removed_names))

    def _summary_of(self, persona_id: str, name: str) -> str:
        return next((recent.summary for recent in self._read_index(persona_id) if recent.name == name), "")

    async def _run_and_notify(self, persona_id: str, work: Callable[[], T], *, only_added: bool = False) -> T:
        """Do the work in the storage thread and notify listeners. With `only_added` nothing was removed, so prompts need not be
        made again.
        """
        result = await self._run(persona_id, work)
        if only_added:
            self.changed.notify(persona_id)
        else:
            await self._notify_removed(persona_id)
        return result

    async def _run(self, persona_id: str, work: Callable[[], T]) -> T:
        """Do the work in the storage thread. Raise StorageError if the system refuses access to a file."""
        with translate_errors(self.folder(persona_id)):
            return await self._database.run_outside_transaction(work)

    async def _notify_removed(self, persona_id: str) -> None:
        self._on_lines_removed(persona_id)
        self.changed.notify(persona_id)


def find_removed_words(before: Notebook, after: Notebook) -> set[str]:
    """Return the content words of a notebook's removed lines that no remaining line has."""
    words = set[str]().union(*(content_words(line.text) for line in before.lines if line not in after.lines))
    return words.difference(*(content_words(line.text) for line in after.lines))


def _replacement_text(text: str, _there: str) -> str:
    return text


def normalize_title(title: str) -> str:
    """Return the title without `#`, with normalised spaces and at most `MAX_TITLE_CHARACTERS` characters. Raise LetheError if
    it is empty.
    """
    normalized = " ".join(title.replace("#", " ").split())
    if not normalized:
        raise LetheError("A notebook needs a title.")
    return normalized[:MAX_TITLE_CHARACTERS].strip()
