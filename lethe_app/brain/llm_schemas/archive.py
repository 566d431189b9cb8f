"""Schemas of structured outputs for archiving a session, and the clean-up that their validators apply."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from lethe_app.brain.text.reported_speech import strip_enclosing_quotes
from lethe_app.domain.facts import FactKind
from lethe_app.language_tables import table_pattern

_FENCE = re.compile(r"```[a-z]*\s*|\s*```", re.IGNORECASE)
_LIST_MARKERS = re.compile(r"^(?:[-*•#>]+\s+|\d+[.)]\s+)|\*\*|__")
_SPACE = re.compile(r"\s+")
_SENTENCE_END = re.compile(r"[.!?…][\"”’)]*(?=\s|$)|[。！？][」』]?")
_FIRST_OR_SECOND_PERSON = re.compile(r"\b(?:I|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself|[Ww]e|us|[Oo]ur|[Oo]urs|[Yy]ou|[Yy]our|[Yy]ours)\b")
_DEPENDENT_START = re.compile(
    r"(?:he|she|it|they|this|that|these|those|there|his|her|their|its|someone|somebody|the|an?|if|when|what|and|but)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r".+?(?:[.!?…][\"”’)]*(?=\s|$)|(?<=[a-z])[.!?](?=[A-Z])|$)")
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_ENDS = (".", "!", "?", "…", "”", '"', "。", "！", "？", "」")
MIN_PARAGRAPH_LENGTH = 20
MAX_PARAGRAPH_LENGTH = 700
"""Maximum length of a paragraph in characters; a longer answer is cut to its last complete sentence."""
MAX_SENTENCE_LENGTH = 200
TRUNCATION_MARGIN = 12
"""Characters below the maximum length from which a text counts as cut off by it."""


def clean_answer_text(text: str) -> str:
    """Return the text without fences, list markers, preambles such as “Certainly! Here is the title:”, and superfluous white
    space.
    """
    plain = _SPACE.sub(" ", _FENCE.sub("", text)).strip()
    content = table_pattern("model_answers", "preamble").sub("", _LIST_MARKERS.sub("", plain)).strip()
    return content[:1].upper() + content[1:] if content != plain else plain


def keep_complete_sentences(text: str) -> str:
    """Return the text up to the end of its last complete sentence; empty if there is none."""
    ends = list(_SENTENCE_END.finditer(text))
    return text[: ends[-1].end()] if ends else ""


def _complete_paragraph(text: str) -> str:
    """Return the paragraph with a final full stop, or only its complete sentences if it reached the maximum length."""
    if text.endswith(_ENDS):
        return text
    return keep_complete_sentences(text) if len(text) >= MAX_PARAGRAPH_LENGTH - TRUNCATION_MARGIN else text + "."


def _first_sentence(text: str) -> str:
    """Return the first sentence with a final full stop; raise ValueError if it was cut off."""
    end = next(
        (found.end() for found in _SENTENCE_END.finditer(text) if not _ends_with_courtesy_title(text[: found.end()])), None
    )
    if end is None and len(text) >= MAX_SENTENCE_LENGTH - TRUNCATION_MARGIN:
        raise ValueError("it was broken off")
    first = text[:end]
    return first if first.endswith(_ENDS) else first + "."


def is_self_contained(fact: str) -> bool:
    """Return whether a fact is understood without its session: it does not begin with a pronoun or article and contains no
    “I” or “you”.
    """
    return not _FIRST_OR_SECOND_PERSON.search(fact) and not _DEPENDENT_START.match(fact)


def _ends_with_courtesy_title(text: str) -> bool:
    return text.endswith((" Mr.", " Mrs.", " Ms.", " Dr.", " St.", "Mr.", "Mrs.", "Dr.", "St."))


def _clean_value(value: object) -> object:
    return clean_answer_text(value) if isinstance(value, str) else value


def clean_title(value: object) -> object:
    """Clean a title: no list markers, no quotation marks around it and no final full stop; a value of another type is
    returned unchanged.
    """
    return strip_enclosing_quotes(clean_answer_text(value).rstrip(".")).rstrip(".") if isinstance(value, str) else value


def remove_duplicates(values: list[str]) -> list[str]:
    """Return the non-empty values without case-insensitive duplicates, in order."""
    kept: dict[str, str] = {}
    for value in filter(None, values):
        kept.setdefault(value.casefold(), value)
    return list(kept.values())


def _require_enough_keywords(values: list[str]) -> list[str]:
    distinct = remove_duplicates(values)
    if len(distinct) < 4:
        raise ValueError("too few keywords are left when repetitions are taken away")
    return distinct


def _remove_repetitions(text: str) -> str:
    """Return the text without repeated sentences; raise ValueError if more than half of them are repetitions."""
    sentences = _SENTENCE.findall(text)
    distinct = remove_duplicates([sentence.strip() for sentence in sentences])
    if len(distinct) * 2 < len(sentences):
        raise ValueError("it repeats itself")
    return " ".join(distinct)


def valid_items(item_type: Any, max_items: int) -> BeforeValidator:  # noqa: ANN401 - a type or an annotated one
    """Return a validator that keeps the first `max_items` valid items, so that one invalid item does not discard the others.

    The validator raises ValueError if there are items and none is valid.
    """
    adapter: TypeAdapter[object] = TypeAdapter(item_type)

    def keep_valid(value: object) -> object:
        if not isinstance(value, list):
            return value
        found: list[object] = []
        for item in value:
            with suppress(ValidationError):
                found.append(adapter.validate_python(item))
        if value and not found:
            raise ValueError("none of its items can be used")
        return found[:max_items]

    return BeforeValidator(keep_valid)


Tidy = BeforeValidator(_clean_value)
Paragraph = Annotated[
    str,
    Tidy,
    AfterValidator(_complete_paragraph),
    AfterValidator(_remove_repetitions),
    Field(min_length=MIN_PARAGRAPH_LENGTH, max_length=MAX_PARAGRAPH_LENGTH),
]
Keyword = Annotated[str, BeforeValidator(clean_title), Field(min_length=2, max_length=40)]
Sentence = Annotated[str, Tidy, AfterValidator(_first_sentence), Field(min_length=5, max_length=MAX_SENTENCE_LENGTH)]


class LlmAnswer(BaseModel):
    """Structured output as one JSON object."""

    model_config = ConfigDict(frozen=True)
    max_tokens: ClassVar[int] = 64
    """Token limit that suffices for the longest answer that the schema allows in plain English."""
    truncation_suffix: ClassVar[str] = ""
    """Text that closes an answer cut off by the token limit, if a part of it is still useful."""

    @classmethod
    def schema_text(cls) -> str:
        """Return the JSON schema that constrains the model's output."""
        return json.dumps(cls.model_json_schema())

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a model's output, ignoring a fence or preamble around the object; raise ValueError if it is invalid."""
        found = _OBJECT.search(text) or _OBJECT.search(keep_complete_sentences(text) + cls.truncation_suffix)
        if found is None:
            raise ValueError("there is no JSON object in the answer")
        return cls.model_validate(json.loads(found[0], strict=False))  # models break lines inside strings


class ListAnswer(LlmAnswer):
    """Structured output with a list of objects; complete items of a truncated answer are kept."""

    @classmethod
    def parse(cls, text: str) -> Self:
        try:
            return super().parse(text)
        except json.JSONDecodeError:
            return super().parse(text[: text.rfind("}") + 1] + "]}")


class TitleAnswer(LlmAnswer):
    """Title of a session."""

    title: Annotated[str, BeforeValidator(clean_title), Field(min_length=3, max_length=60)]


class ParagraphsAnswer(LlmAnswer):
    """Text in paragraphs; complete sentences of a truncated answer are kept."""

    truncation_suffix: ClassVar[str] = '"]}'
    paragraphs: list[Paragraph]

    @property
    def text(self) -> str:
        return "\n\n".join(remove_duplicates(self.paragraphs))


class SummaryAnswer(ParagraphsAnswer):
    """Summary of a session in one or two paragraphs."""

    max_tokens: ClassVar[int] = 450
    paragraphs: list[Paragraph] = Field(min_length=1, max_length=2)


class LongSummaryAnswer(SummaryAnswer):
    """Summary of a session with more than forty messages, in two to four paragraphs."""

    max_tokens: ClassVar[int] = 850
    paragraphs: list[Paragraph] = Field(min_length=2, max_length=4)


class KeywordsAnswer(LlmAnswer):
    """Four to six keywords for finding a session."""

    max_tokens: ClassVar[int] = 128
    keywords: Annotated[
        list[Keyword], valid_items(Keyword, 6), AfterValidator(_require_enough_keywords), Field(min_length=4, max_length=6)
    ]


class GoalsAnswer(LlmAnswer):
    """Goals that somebody still has, the most important first."""

    max_tokens: ClassVar[int] = 320
    goals: Annotated[list[Sentence], valid_items(Sentence, 5), AfterValidator(remove_duplicates), Field(max_length=5)]


class RelevanceAnswer(LlmAnswer):
    """Relevance of a session from 1 to 10, as estimated by the model."""

    relevance: Literal[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]

    @property
    def stars(self) -> int:
        """Return 1 to 5 stars, corrected for the inflated ratings of models: round(clamp(r − 3, 0, 7) / 7 · 4 + 1)."""
        return round(min(max(self.relevance - 3, 0), 7) / 7 * 4 + 1)


class MomentsAnswer(LlmAnswer):
    """Numbers of the notes on a day that mattered, from 1, the most important first."""

    numbers: list[int] = Field(max_length=3)

    def indices(self, count: int) -> list[int]:
        """Return the indices into `count` notes; numbers of none are ignored."""
        return [number - 1 for number in dict.fromkeys(self.numbers) if 1 <= number <= count]


class RoleplayAnswer(LlmAnswer):
    """Whether nearly all of a session was roleplay."""

    is_roleplay: bool


class StatedFact(BaseModel):
    """Fact with its evidence."""

    model_config = ConfigDict(frozen=True)

    line: int = Field(ge=1, le=999)
    """Number of the line that states it, counted from 1."""
    quote: str = Field(min_length=1, max_length=200)
    """Words of that line that state it."""
    about: Annotated[str, Tidy, Field(max_length=60)]
    """Subject of the fact, such as “Anna” or “Anna's father”."""
    kind: Annotated[FactKind, BeforeValidator(lambda value: value if value in list(FactKind) else FactKind.OTHER)]
    fact: Sentence
    changes: int = Field(default=0, ge=0, le=99)
    """Number of the known fact that it makes outdated; 0 for none."""


class FactsAnswer(ListAnswer):
    """Lasting facts stated by some lines."""

    max_tokens: ClassVar[int] = 640
    facts: Annotated[list[StatedFact], valid_items(StatedFact, 8), Field(max_length=8)]


class ConfirmationAnswer(LlmAnswer):
    """Whether a line states what a note says."""

    max_tokens: ClassVar[int] = 16
    is_said: bool


class FactRelationAnswer(LlmAnswer):
    """Relation of a new fact to a known one."""

    verdict: Literal["same", "update", "contradiction", "new"]


class MoodChangeAnswer(LlmAnswer):
    """Effect of a session on one axis of somebody's mood."""

    change: Literal["much lower", "lower", "same", "higher", "much higher"]

    @property
    def step(self) -> int:
        """Return the change as a step from −2 to 2."""
        return ("much lower", "lower", "same", "higher", "much higher").index(self.change) - 2
