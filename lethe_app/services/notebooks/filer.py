"""Filing of conclusions: which notebook they belong to, its title, and the splitting of long notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from lethe_app.brain.llm_schemas.notebooks import SplitAnswer
from lethe_app.brain.notebooks.document import Conclusion, Notebook
from lethe_app.brain.notebooks.filing import MIN_CONCLUSIONS, assign_conclusions
from lethe_app.brain.notebooks.matching import majority_notebook
from lethe_app.brain.notebooks.splitting import NotebookPiece, pieces_from_proposal, split_without_model
from lethe_app.brain.notebooks.subjects import SubjectStems
from lethe_app.domain.chat import Role
from lethe_app.errors import LetheError, ModelError
from lethe_app.services.extraction.conclusions import FinishedConversation, SessionConclusions
from lethe_app.services.extraction.qualification import Qualification
from lethe_app.services.extraction.structured_output import StructuredOutput
from lethe_app.services.notebooks.recall import NotebookSelector
from lethe_app.services.notebooks.service import NotebookService
from lethe_app.services.preferences import Preferences


class NotebookFiler:
    """Writes conclusions into the notebooks they belong to."""

    def __init__(
        self,
        notebooks: NotebookService,
        notebook_selector: NotebookSelector,
        subjects: SubjectStems,
        structured_output: StructuredOutput,
        qualification: Qualification,
        preferences: Preferences,
    ) -> None:
        self._notebooks, self._notebook_selector, self._subjects = notebooks, notebook_selector, subjects
        self._structured_output, self._qualification, self._preferences = structured_output, qualification, preferences

    async def write_conclusions(self, conversation: FinishedConversation, extraction: SessionConclusions) -> list[str]:
        """Write each conclusion to the matching notebook or to a new one; return the names of the notebooks."""
        session, all_conclusions = conversation.session, extraction.conclusions
        if not all_conclusions:
            return []
        books = [item.notebook for item in await self._notebooks.notebooks_of(session.persona_id)]
        votes = [await self._find_notebook(conversation, books, conclusion.text) for conclusion in all_conclusions]
        filing = assign_conclusions(
            all_conclusions, votes, await self._choose_main_notebook(conversation, books, votes), books, self._subjects
        )
        names = list[str]()
        for name, conclusions in filing.by_notebook.items():
            await self._notebooks.add_conclusions(session.persona_id, name, conclusions, session.name or conclusions[0].text)
            names.append(name)
        name_by_title = {book.title.casefold(): book.name for book in books}
        for conclusions in filing.new_groups:
            subject = extraction.subject if len(conclusions) == len(all_conclusions) else ""
            title, summary = self._choose_title(conversation, conclusions, subject), session.name or conclusions[0].text
            name = name_by_title.get(title.casefold(), "")
            if name:  # not a second “About Tomas”
                await self._notebooks.add_conclusions(session.persona_id, name, conclusions, summary)
            else:
                name = await self._notebooks.create(session.persona_id, title, conclusions, summary, is_automatic=True)
                name_by_title[title.casefold()] = name
            names.append(name)
        for name in names:
            await self.split_if_long(session.persona_id, name)
        return names

    async def split_if_long(self, persona_id: str, name: str) -> list[str]:
        """Split a notebook with more lines than the user's limit; return the new names, or none."""
        items = await self._notebooks.notebooks_of(persona_id)
        line_count = next((len(item.notebook.lines) for item in items if item.name == name), 0)
        return await self.split(persona_id, name) if line_count > self._preferences.current.notebook_lines else []

    async def split(self, persona_id: str, name: str) -> list[str]:
        """Split a notebook; return the new names. Raise LetheError if it has too few lines."""
        book = next((item.notebook for item in await self._notebooks.notebooks_of(persona_id) if item.name == name), None)
        if book is None:
            raise LetheError(f"The notebook “{name}” no longer exists.")
        if len(book.lines) < 2 * MIN_CONCLUSIONS:
            raise LetheError(f"“{book.title}” is too short to be split.", f"At least {2 * MIN_CONCLUSIONS} lines are needed.")
        return await self._notebooks.split(persona_id, book, await self._choose_pieces(book))

    # Choice of the notebook

    async def _find_notebook(self, conversation: FinishedConversation, books: Sequence[Notebook], text: str) -> str:
        return await self._notebook_selector.find_notebook(
            books, conversation.session.persona_id, text, self._speaker_names(conversation)
        )

    async def _choose_main_notebook(
        self, conversation: FinishedConversation, books: Sequence[Notebook], votes: Sequence[str]
    ) -> str:
        """Return the notebook that was open in the session, or that half of its conclusions are about, or the user's
        messages are about.
        """
        open_name = await self._notebook_selector.open_notebook_of(conversation.session.guid)
        if any(book.name == open_name for book in books):
            return open_name
        user_text = " ".join(line.text for line in conversation.lines if line.role is Role.USER)
        return majority_notebook(votes) or await self._find_notebook(conversation, books, user_text)

    def _choose_title(self, conversation: FinishedConversation, conclusions: Sequence[Conclusion], subject: str) -> str:
        """Return a title: the subject by a model, common words of the conclusions, or else a keyword or the title of the
        session.
        """
        keywords = [word.capitalize() for word in conversation.session.keywords_main[:1]]
        common = self._subjects.build_title([conclusion.text for conclusion in conclusions], self._speaker_names(conversation))
        candidates = (subject, common, *keywords, conversation.session.name, f"Notes of {conclusions[0].day.isoformat()}")
        return next(title for title in map(str.strip, candidates) if title)

    def _speaker_names(self, conversation: FinishedConversation) -> tuple[str, ...]:
        return (conversation.participants.persona.name, conversation.participants.user.name)

    async def _choose_pieces(self, book: Notebook) -> Sequence[NotebookPiece]:
        line_limit = self._preferences.current.notebook_lines
        if self._qualification.may_write_summaries:
            lines = "\n".join(f"{number}. {line.text}" for number, line in enumerate(book.lines, 1))
            with suppress(ModelError):  # too long for it, or it could not say: by rules, then
                if (await self._structured_output.count([lines]))[0] <= await self._structured_output.free_tokens(
                    "split", SplitAnswer, title=book.title
                ):
                    answer = await self._structured_output.ask("split", SplitAnswer, title=book.title, lines=lines)
                    pieces = pieces_from_proposal(book, [(part.title, part.lines) for part in answer.parts])
                    if pieces is not None:
                        return pieces
        return split_without_model(book, line_limit, self._subjects)
