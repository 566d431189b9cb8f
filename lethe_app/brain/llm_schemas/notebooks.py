"""Schemas of structured outputs for notebooks: conclusions of a session, and the division of a long notebook."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from lethe_app.brain.llm_schemas.archive import ListAnswer, LlmAnswer, Sentence, clean_title, valid_items

Heading = Annotated[str, BeforeValidator(clean_title), Field(min_length=2, max_length=60)]


class ConclusionAnswer(BaseModel):
    """Conclusion with the number of the line that states it, counted from 1, and the quoted words of that line."""

    model_config = ConfigDict(frozen=True)

    line: int = Field(ge=1, le=999)
    quote: str = Field(min_length=1, max_length=200)
    conclusion: Sentence


class ConclusionsAnswer(ListAnswer):
    """Conclusions of a session, and its subject in one to three words."""

    max_tokens: ClassVar[int] = 720
    conclusions: Annotated[list[ConclusionAnswer], valid_items(ConclusionAnswer, 8), Field(max_length=8)]
    subject: Annotated[str, BeforeValidator(clean_title), Field(max_length=40)] = ""


class NotebookPart(BaseModel):
    """Section with its own subject, and the numbers of its lines, counted from 1."""

    model_config = ConfigDict(frozen=True)

    title: Heading
    lines: list[int] = Field(max_length=200)


class SplitAnswer(LlmAnswer):
    """Division of a notebook into parts."""

    max_tokens: ClassVar[int] = 700
    parts: list[NotebookPart] = Field(min_length=2, max_length=6)
