"""Inference of lasting preferences and anti-patterns from the user's corrections of the persona."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from lethe_app.brain.dreams.consolidation import ANTI_PATTERNS, DREAM, INFERRED, ChangeProvenance, build_change
from lethe_app.brain.dreams.corrections import UNNAMED_BEHAVIOUR, Correction, CorrectionStrength, find_corrections, is_alike
from lethe_app.domain.agent_runs import RecordedChange
from lethe_app.domain.changes import AVOID, INFER, ChangedRecords
from lethe_app.domain.memory import MemoryUnit, inferred_metadata
from lethe_app.language_tables import compile_table, load_table, table_pattern

STRONG_TAG = "strong"
"""Tag of an anti-pattern that must never occur again."""
MAX_STRONG_PATTERNS = 2
"""Maximum number of anti-patterns with the tag `STRONG_TAG` that are in every prompt."""
_DEFAULT_DOMAIN = "talk"


class CorrectionRemark(Correction):
    """One occasion on which the user corrected the persona."""

    message: UUID
    session: UUID
    at: AwareDatetime
    wish: str = ""
    """The correction as a sentence about the user, if a model wrote one and it is grounded; otherwise empty."""


class PreferenceRemarks(BaseModel):
    """Group of remarks with the same request."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    remarks: list[CorrectionRemark] = Field(min_length=1)

    @property
    def strongest(self) -> CorrectionRemark:
        """Return the strongest remark, the newest one among equals."""
        return min(self.remarks, key=lambda one: (one.strength, -one.at.timestamp()))

    @property
    def is_frequent_enough(self) -> bool:
        """Return whether the request was made often enough for its strength: once strongly, twice mildly or three times
        casually.
        """
        return any(
            sum(one.strength <= strength for one in self.distinct_remarks) >= strength for strength in CorrectionStrength
        )

    @property
    def distinct_remarks(self) -> list[CorrectionRemark]:
        """Return the strongest remark of each message, oldest first; a verbatim repetition in the same session does not
        count.
        """
        kept: dict[UUID, CorrectionRemark] = {}
        for remark in sorted(self.remarks, key=lambda one: one.strength):
            is_repetition = any(remark.session == other.session and remark.words == other.words for other in kept.values())
            if remark.message not in kept and not is_repetition:
                kept[remark.message] = remark
        return sorted(kept.values(), key=lambda one: one.at)


def find_remarks(text: str, message: UUID, session: UUID, at: datetime) -> list[CorrectionRemark]:
    """Return the remarks that the rules find in a user message."""
    return [CorrectionRemark(**one.model_dump(), message=message, session=session, at=at) for one in find_corrections(text)]


def group_remarks(remarks: Iterable[CorrectionRemark]) -> list[PreferenceRemarks]:
    """Group remarks whose requests agree by their words; oldest first."""
    groups: list[list[CorrectionRemark]] = []
    for remark in sorted(remarks, key=lambda one: one.at):
        group = next((each for each in groups if any(is_alike(remark, other) for other in each)), None)
        if group is None:
            groups.append([remark])
        else:
            group.append(remark)
    return [PreferenceRemarks(remarks=group) for group in groups]


def build_preference_change(group: PreferenceRemarks, user: str, provenance: ChangeProvenance) -> RecordedChange:
    """Return the change that adds a lasting preference as a memory, quoting the user's words."""
    strongest = group.strongest
    stated_preference = next((one.wish for one in sorted(group.remarks, key=lambda one: one.strength) if one.wish), "")
    content = stated_preference or f"{user} asked for this: “{strongest.words.rstrip('.!?… ')}.”"
    return _build_change(INFER, content, INFERRED, ["inferred"], group, provenance)


def build_anti_pattern_change(group: PreferenceRemarks, user: str, provenance: ChangeProvenance) -> RecordedChange:
    """Return the change that adds an anti-pattern (“Don't X because Y. Instead: Z.”), made from the user's own words only."""
    best = next((one for one in sorted(group.remarks, key=lambda one: one.strength) if one.unwanted), group.strongest)
    unwanted = to_third_person(best.unwanted or UNNAMED_BEHAVIOUR, user)
    instead = next((one.instead for one in group.remarks if one.instead), "")
    content = f"Don't {unwanted}, because {user} objected: “{best.words.rstrip('.!?… ')}.”"
    if instead:
        content += f" Instead: {to_third_person(instead, user)}."
    return _build_anti_pattern(content, complaint_domain(best.words), group, provenance)


def build_worded_anti_pattern(
    avoid: str, reason: str, instead: str, domain: str, group: PreferenceRemarks, provenance: ChangeProvenance
) -> RecordedChange:
    """Return the change that adds an anti-pattern in a model's wording."""
    content = f"Don't {avoid.strip().rstrip('.')} because {reason.strip().rstrip('.')}"
    content += f", instead {instead.strip().rstrip('.')}." if instead.strip() else "."
    return _build_anti_pattern(content, domain or _DEFAULT_DOMAIN, group, provenance)


def _build_anti_pattern(content: str, domain: str, group: PreferenceRemarks, provenance: ChangeProvenance) -> RecordedChange:
    is_strong = group.strongest.strength is CorrectionStrength.STRONG
    tags = ["anti-pattern", *([STRONG_TAG] if is_strong else [])]
    return _build_change(AVOID, content, f"{ANTI_PATTERNS}/{domain}", tags, group, provenance)


def _build_change(
    kind: str,
    content: str,
    filed_under: str,
    tags: Sequence[str],
    group: PreferenceRemarks,
    provenance: ChangeProvenance,
) -> RecordedChange:
    messages = [one.message for one in group.distinct_remarks]
    memory = build_inferred_memory(content, filed_under, tags, messages, provenance[2])
    memory.priority = 4 - group.strongest.strength
    reason = "You said so." if len(messages) == 1 else f"You said so {len(messages)} times."
    return build_change(kind, reason, ChangedRecords(), ChangedRecords(memories=[memory]), provenance)


def build_inferred_memory(
    content: str, filed_under: str, tags: Sequence[str], messages: Iterable[UUID], moment: datetime
) -> MemoryUnit:
    """Return a memory of what a dream inferred from messages."""
    return MemoryUnit(
        content=content,
        priority=1,
        filed_under=filed_under,
        tags=list(tags),
        sources=[f"message:{message}" for message in messages],
        made_by=DREAM,
        metadata=inferred_metadata(needs_permission=is_sensitive(content)),
        added=moment,
        last_trigger=moment,
    )


def is_sensitive(text: str) -> bool:
    """Return whether the text concerns safety, secrets or money, so that the persona must ask before acting on it."""
    return table_pattern("preferences", "sensitive").search(text) is not None


def complaint_domain(words: str) -> str:
    """Return the topic of a complaint as one word, used as its subcategory."""
    domains = load_table("preferences")["domains"]
    return next((name for name in domains if compile_table("preferences", name).search(words)), _DEFAULT_DOMAIN)


def to_third_person(words: str, user: str) -> str:
    """Replace the first person by the user's name: “call me Tommy” becomes “call Tomas Tommy”."""
    with_possessives = re.sub(r"\bmy\b", f"{user}'s", words, flags=re.IGNORECASE)
    return re.sub(r"\b(?:me|I|myself)\b", user, with_possessives)


def strong_pattern_ids(memories: Iterable[MemoryUnit]) -> set[UUID]:
    """Return the ids of the newest enabled anti-patterns with the tag `STRONG_TAG`, which are in every prompt; the others are
    recalled.
    """
    patterns = [one for one in memories if one.filed_under.startswith(ANTI_PATTERNS) and STRONG_TAG in one.tags and one.enabled]
    return {one.guid for one in sorted(patterns, key=lambda one: one.added, reverse=True)[:MAX_STRONG_PATTERNS]}
