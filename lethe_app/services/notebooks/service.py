"""A persona's notebooks in the user's hands: files that may also be written in elsewhere, and so are read anew every time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from lethe_app.brain.notebooks import document as writing
from lethe_app.brain.notebooks import splitting as parting
from lethe_app.brain.notebooks.document import Conclusion, Notebook, Recent
from lethe_app.brain.notebooks.splitting import NotebookPiece
from lethe_app.brain.text.fingerprint import digest
from lethe_app.domain.clock import now
from lethe_app.errors import FileError, LetheError
from lethe_app.paths import Paths
from lethe_app.services.events import Listeners
from lethe_app.storage.database import Database
from lethe_app.storage.files.notebooks import NotebookFiles

T = TypeVar("T")
LONGEST_TITLE = 80


@dataclass(frozen=True)
class NotebookListItem:
    """A notebook in a list."""

    notebook: Notebook
    when: datetime | None
    """When something was last written into it by itself; None where that is not known."""

    @property
    def name(self) -> str:
        return self.notebook.name


class Notebooks:
    """`changed` names the persona. Everything is done where the database works, so that the window never waits for a disk."""

    def __init__(self, paths: Paths, database: Database, renew: Callable[[str], Awaitable[None]]) -> None:
        """`renew` has the prompts of a persona made anew, when something may have been taken out of her notebooks."""
        self.changed: Listeners[str] = Listeners()
        self._files = NotebookFiles(paths.notebooks, paths.trash)
        self._database = database
        self._renew = renew
        self._parsed: dict[tuple[str, str], tuple[str, Notebook]] = {}

    # Reading

    def folder(self, persona_id: str) -> Path:
        """Where hers lie."""
        return self._files.folder(persona_id)

    async def notebooks_of(self, persona_id: str) -> list[NotebookListItem]:
        """All that can be read, the one that was written in last first."""

        def work() -> list[NotebookListItem]:
            texts = self._files.all(persona_id).texts
            recents = {one.name: one.when for one in writing.read_index(self._files.index(persona_id))}
            return [NotebookListItem(self._read(persona_id, name, text), recents.get(name)) for name, text in texts.items()]

        found = await self._database.aside(work)
        return sorted(found, key=lambda one: (one.when is None, -one.when.timestamp() if one.when else 0, one.notebook.title))

    async def problems(self, persona_id: str) -> list[FileError]:
        """Files of hers that cannot be read, and why. They are left as they are."""
        return (await self._database.aside(lambda: self._files.all(persona_id))).problems

    async def text(self, persona_id: str, name: str) -> str:
        """As it stands in the file. Raises FileError."""
        return await self._database.aside(lambda: self._files.text(persona_id, name))

    async def texts(self, persona_id: str) -> dict[str, str]:
        """Of all that can be read, by name, as they stand in the files."""
        return await self._database.aside(lambda: dict(self._files.all(persona_id).texts))

    async def recent(self, persona_id: str) -> list[Recent]:
        """The subjects that were written about last, newest first; those whose notebook is gone are left out."""

        def work() -> list[Recent]:
            there = self._files.all(persona_id).texts
            return [one for one in writing.read_index(self._files.index(persona_id)) if one.name in there]

        return await self._database.aside(work)

    # Writing

    async def create(self, persona_id: str, title: str, conclusions: Sequence[Conclusion] = (), summary: str = "") -> str:
        """A new one; returns its name. Raises LetheError without a title."""
        title = titled(title)

        def work() -> str:
            name = self._files.free_name(persona_id, title)
            text = writing.begun(title, [writing.line_of(one) for one in conclusions])
            self._exchange(persona_id, [], {name: text}, summary)
            return name

        return await self._told(persona_id, work, is_more=True)

    async def add(self, persona_id: str, name: str, conclusions: Sequence[Conclusion], summary: str = "") -> int:
        """Write down what it does not say yet; how many lines that were. Raises FileError, and then nothing is changed."""

        def work() -> int:
            before = len(writing.read(name, self._files.text(persona_id, name)).lines)
            text = self._files.write(persona_id, name, lambda there: writing.added(there, name, conclusions))
            self._index(persona_id, [Recent(now(), name, summary)])
            return len(writing.read(name, text).lines) - before

        return await self._told(persona_id, work, is_more=True)

    async def write(self, persona_id: str, name: str, text: str, base: str) -> str:
        """The user's own wording; `base` is the text they began with. What was written into the file since then is kept too.

        Returns what stands in the file now.
        """
        change: Callable[[str], str] = lambda there: writing.merged(base, text, there)  # noqa: E731 - said in one line
        return await self._told(persona_id, lambda: self._files.write(persona_id, name, change))

    async def rename(self, persona_id: str, name: str, title: str) -> str:
        """Another title, and a file of that name; returns the name. The text below the title stays as it is."""
        title = titled(title)

        def work() -> str:
            text = self._files.text(persona_id, name)
            notebook = writing.read(name, text)
            retitled = notebook.head.replace(f"# {notebook.title}", f"# {title}", 1)
            if retitled == notebook.head and notebook.title != title:
                retitled = f"# {title}\n\n{notebook.head}".rstrip("\n") + "\n"
            whole = writing.spelled(Notebook(name, title, retitled, notebook.lines))
            new = self._files.free_name(persona_id, title)
            self._exchange(persona_id, [name], {new: whole}, self._summary(persona_id, name))
            return new

        return await self._told(persona_id, work)

    async def delete(self, persona_id: str, name: str) -> Path:
        """Into the trash; returns where it lies."""

        def work() -> Path:
            return self._files.delete(persona_id, name)

        return await self._told(persona_id, work)

    async def restore(self, trashed: Path) -> str:
        """Out of the trash again; returns its name."""
        persona_id, name = await self._database.aside(lambda: self._files.restore(trashed))
        await self._tell(persona_id)
        return name

    async def erase_all(self, persona_id: str) -> None:
        """All of somebody who is gone for good."""
        await self._database.aside(lambda: self._files.erase_all(persona_id))

    async def merge(self, persona_id: str, names: Sequence[str], title: str = "") -> str:
        """One in the place of several, with all their lines in the order of their days; returns its name."""
        if len(set(names)) < 2:
            raise LetheError("It takes two notebooks to make one of them.")

        def work() -> str:
            books = [writing.read(name, self._files.text(persona_id, name)) for name in dict.fromkeys(names)]
            first, *_others = books
            lines = [line for book in books for line in book.lines]
            dated = sorted(lines, key=lambda line: (line.day is not None, line.day.isoformat() if line.day else ""))
            text = parting.texts(first, [NotebookPiece(title or first.title, tuple(dated))])[0]
            for book in books[1:]:
                above = "\n".join(row for row in book.head.split("\n") if not row.startswith("# ")).strip()
                text += f"\n{above}\n" if above else ""
            new = self._files.free_name(persona_id, title or first.title)
            self._exchange(persona_id, names, {new: text}, self._summary(persona_id, first.name))
            return new

        return await self._told(persona_id, work)

    async def part(self, persona_id: str, notebook: Notebook, pieces: Sequence[NotebookPiece]) -> list[str]:
        """Several in the place of one, whose file goes to the trash; their names.

        Raises LetheError where the file says something else by now, and then nothing is changed.
        """

        def work() -> list[str]:
            if self._files.text(persona_id, notebook.name) != writing.spelled(notebook):
                raise LetheError(f"“{notebook.title}” was changed meanwhile.", "Part it again.")
            new: dict[str, str] = {}
            for piece, text in zip(pieces, parting.texts(notebook, pieces), strict=True):
                name = self._files.free_name(persona_id, piece.title)
                while name in new:
                    name += "-2"
                new[name] = text
            self._exchange(persona_id, [notebook.name], new, self._summary(persona_id, notebook.name))
            return list(new)

        return await self._told(persona_id, work)

    async def put_back(self, persona_id: str, gone: Sequence[str], texts: Mapping[str, str]) -> None:
        """Notebooks as they were before they were parted, merged or renamed; what came of that goes to the trash."""

        def work() -> None:
            there = self._files.all(persona_id).texts
            self._exchange(persona_id, [name for name in gone if name in there], dict(texts), "")

        await self._told(persona_id, work)

    async def strike_lines(self, persona_id: str, digests: Collection[str]) -> int:
        """Strike out what the user wanted forgotten, known by its digest; how many lines that were."""

        def work() -> int:
            struck = 0
            for name, text in self._files.all(persona_id).texts.items():
                notebook = self._read(persona_id, name, text)
                left = tuple(line for line in notebook.lines if digest(line.text) not in digests)
                if len(left) < len(notebook.lines):
                    struck += len(notebook.lines) - len(left)
                    whole = writing.spelled(replace(notebook, lines=left)).rstrip("\n") + "\n"
                    self._files.write(persona_id, name, partial(_instead, whole))
            return struck

        struck = await self._database.aside(work) if digests else 0
        if struck:
            await self._tell(persona_id)
        return struck

    # Where the files are

    def _read(self, persona_id: str, name: str, text: str) -> Notebook:
        """The same one as long as its text is the same."""
        known = self._parsed.get((persona_id, name))
        if known is None or known[0] != text:
            known = self._parsed[persona_id, name] = (text, writing.read(name, text))
        return known[1]

    def _exchange(self, persona_id: str, gone: Sequence[str], new: dict[str, str], summary: str) -> None:
        recents = writing.read_index(self._files.index(persona_id))
        were = [one.when for one in recents if one.name in gone]
        when = max(were) if were else now()
        fresh = [Recent(when, name, summary) for name in new]
        self._files.exchange(persona_id, gone, new, writing.spelled_index(writing.indexed(recents, fresh, gone)))

    def _index(self, persona_id: str, new: Sequence[Recent]) -> None:
        recents = writing.read_index(self._files.index(persona_id))
        there = self._files.all(persona_id).texts
        gone = [one.name for one in recents if one.name not in there]
        self._files.set_index(persona_id, writing.spelled_index(writing.indexed(recents, new, gone)))

    def _summary(self, persona_id: str, name: str) -> str:
        return next((one.summary for one in writing.read_index(self._files.index(persona_id)) if one.name == name), "")

    async def _told(self, persona_id: str, work: Callable[[], T], *, is_more: bool = False) -> T:
        """With `is_more` nothing was taken away: prompts may stay as they are until they are made anew by themselves."""
        result = await self._database.aside(work)
        if is_more:
            self.changed.tell(persona_id)
        else:
            await self._tell(persona_id)
        return result

    async def _tell(self, persona_id: str) -> None:
        await self._renew(persona_id)
        self.changed.tell(persona_id)


def _instead(text: str, _there: str) -> str:
    return text


def titled(title: str) -> str:
    """Raises LetheError where there are no words."""
    words = " ".join(title.replace("#", " ").split())
    if not words:
        raise LetheError("A notebook needs a title.")
    return words[:LONGEST_TITLE].strip()
