"""Schemas of structured outputs for web research: queries, findings, and whether the findings suffice."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from lethe_app.brain.llm_schemas.archive import (
    ListAnswer,
    LlmAnswer,
    Paragraph,
    ParagraphsAnswer,
    Sentence,
    Tidy,
    clean_answer_text,
    remove_duplicates,
    valid_items,
)

MAX_QUERY_LENGTH = 120
MIN_FINDING_LENGTH = 12
"""Minimum length of a finding in characters; “None.” and “Not said.” are no findings."""


def _clean_query(value: object) -> object:
    return clean_answer_text(value).strip("\"“”'«»").rstrip(".?!") if isinstance(value, str) else value


Query = Annotated[str, BeforeValidator(_clean_query), Field(min_length=3, max_length=MAX_QUERY_LENGTH)]
"""Search engine query."""
Subject = Annotated[str, BeforeValidator(_clean_query), Field(min_length=3, max_length=80)]


class TopicAnswer(BaseModel):
    """Topic worth researching."""

    model_config = ConfigDict(frozen=True)

    topic: Subject
    reason: Sentence
    urgency: Literal[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    queries: Annotated[list[Query], AfterValidator(remove_duplicates), Field(min_length=1, max_length=2)]

    @property
    def weight(self) -> int:
        """Return a weight from 1 to 3: urgency 1 to 4, 5 to 7, and 8 to 10."""
        return 1 if self.urgency <= 4 else 2 if self.urgency <= 7 else 3


class TopicsAnswer(ListAnswer):
    """Topics of a session that could be researched."""

    max_tokens: ClassVar[int] = 480
    topics: Annotated[list[TopicAnswer], valid_items(TopicAnswer, 3), Field(max_length=3)]


class MergedPagesAnswer(ParagraphsAnswer):
    """Combined statement of several pages."""

    max_tokens: ClassVar[int] = 1024
    paragraphs: list[Paragraph] = Field(min_length=1, max_length=3)


class SearchDecisionAnswer(LlmAnswer):
    """Whether the next reply needs a web search, and its topic."""

    max_tokens: ClassVar[int] = 96
    search: bool
    topic: Annotated[str, BeforeValidator(_clean_query), Field(max_length=MAX_QUERY_LENGTH)] = ""


class OutlineAnswer(LlmAnswer):
    """Research outline for a question."""

    max_tokens: ClassVar[int] = 480
    questions: Annotated[list[Query], AfterValidator(remove_duplicates), Field(min_length=3, max_length=6)]
    enough_when: Sentence


class PageSummaryAnswer(LlmAnswer):
    """Finding of one page about the question; empty if it has none."""

    max_tokens: ClassVar[int] = 320
    truncation_suffix: ClassVar[str] = '"}'
    finding: Annotated[str, Tidy, Field(max_length=900)]

    @property
    def text(self) -> str:
        words = self.finding.strip()
        return "" if len(words) < MIN_FINDING_LENGTH else words if words.endswith((".", "!", "?", "”", "…")) else f"{words}."


class ReportAnswer(ParagraphsAnswer):
    """Report of all findings so far, rewritten as a whole."""

    max_tokens: ClassVar[int] = 1024
    paragraphs: list[Paragraph] = Field(min_length=1, max_length=5)


class CompletenessAnswer(LlmAnswer):
    """Whether the report answers the question, and the next queries if it does not."""

    max_tokens: ClassVar[int] = 200
    is_enough: bool
    next_queries: Annotated[list[Query], AfterValidator(remove_duplicates), Field(max_length=3)] = Field(default_factory=list)
