"""What a model may answer when something is looked up on the internet: what to search for, what was found, is it enough."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from lethe_app.brain.llm_schemas.archive import ListAnswer, LlmAnswer, Paragraph, Sentence, Tidy, tidy, valid_items

LONGEST_QUERY = 120
SHORTEST_FINDING = 12
"""Characters; “None.” and “Not said.” are no findings."""


def _tidy_words(value: object) -> object:
    return tidy(value).strip("\"“”'«»").rstrip(".?!") if isinstance(value, str) else value


def _distinct(values: list[str]) -> list[str]:
    """Each once, whatever its case."""
    kept: dict[str, str] = {}
    for value in values:
        kept.setdefault(value.casefold(), value)
    return list(kept.values())


Query = Annotated[str, BeforeValidator(_tidy_words), Field(min_length=3, max_length=LONGEST_QUERY)]
"""Words for a search engine."""
Subject = Annotated[str, BeforeValidator(_tidy_words), Field(min_length=3, max_length=80)]


class TopicAnswer(BaseModel):
    """Something worth knowing more about."""

    model_config = ConfigDict(frozen=True)

    topic: Subject
    reason: Sentence
    urgency: Literal[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    queries: Annotated[list[Query], AfterValidator(_distinct), Field(min_length=1, max_length=2)]

    @property
    def weight(self) -> int:
        """From 1 to 3: of a model's ten steps the lower four, the middle three and the upper three."""
        return 1 if self.urgency <= 4 else 2 if self.urgency <= 7 else 3


class Topics(ListAnswer):
    """What came up in a conversation and could be looked up."""

    most_tokens: ClassVar[int] = 480
    topics: Annotated[list[TopicAnswer], valid_items(TopicAnswer, 3), Field(max_length=3)]


class Merged(LlmAnswer):
    """What some pages say together."""

    most_tokens: ClassVar[int] = 1024
    ending: ClassVar[str] = '"]}'
    paragraphs: list[Paragraph] = Field(min_length=1, max_length=3)

    @property
    def text(self) -> str:
        return "\n\n".join(_distinct(self.paragraphs))


class WantsSearch(LlmAnswer):
    """Is the internet needed for the next reply, and for what?"""

    most_tokens: ClassVar[int] = 96
    search: bool
    topic: Annotated[str, BeforeValidator(_tidy_words), Field(max_length=LONGEST_QUERY)] = ""


class Outline(LlmAnswer):
    """How a question is gone about."""

    most_tokens: ClassVar[int] = 480
    questions: Annotated[list[Query], AfterValidator(_distinct), Field(min_length=3, max_length=6)]
    enough_when: Sentence


class PageSummaryAnswer(LlmAnswer):
    """What one page says to the question; nothing where it says nothing."""

    most_tokens: ClassVar[int] = 320
    ending: ClassVar[str] = '"}'
    finding: Annotated[str, Tidy, Field(max_length=900)]

    @property
    def text(self) -> str:
        words = self.finding.strip()
        return "" if len(words) < SHORTEST_FINDING else words if words.endswith((".", "!", "?", "”", "…")) else f"{words}."


class ReportAnswer(LlmAnswer):
    """All that is known by now, written anew."""

    most_tokens: ClassVar[int] = 1024
    ending: ClassVar[str] = '"]}'
    paragraphs: list[Paragraph] = Field(min_length=1, max_length=5)

    @property
    def text(self) -> str:
        return "\n\n".join(_distinct(self.paragraphs))


class Enough(LlmAnswer):
    """Does the report answer the question, and if not, what is to be searched next?"""

    most_tokens: ClassVar[int] = 200
    is_enough: bool
    next_queries: Annotated[list[Query], AfterValidator(_distinct), Field(max_length=3)] = Field(default_factory=list)
