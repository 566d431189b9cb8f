"""What a dream concludes from how the user talked to the persona: lasting wishes, and what is not to be done again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from lethe_app.brain.dreams.consolidation import ANTI_PATTERNS, DREAM, INFERRED
from lethe_app.brain.dreams.corrections import THAT, Correction, Strength, corrections, is_alike
from lethe_app.domain.agent_runs import RecordedChange
from lethe_app.domain.changes import AVOID, INFER, Records
from lethe_app.domain.memory import MemoryUnit

FIRM = "strong"
"""Tag of what must never happen again."""
MOST_FIRM = 2
"""Of these, as many as always stand in the prompt."""
ASK_FIRST = "Ask before acting on this."
"""Goes with what touches safety, secrets or money."""
_DELICATE = re.compile(
    r"\b(?:passwords?|passphrases?|pin|credentials?|log ?ins?|tokens?|keys?|secrets?|2fa|security|secure|safety|encrypt\w*|"
    r"bank\w*|money|pay\w*|paid|spend\w*|spent|buy\w*|bought|purchas\w*|price\w*|cost\w*|budget\w*|invest\w*|stocks?|shares?|crypto\w*|"
    r"bitcoin|loans?|debts?|credit|cards?|accounts?|tax\w*|salary|insurance|transfer\w*|euros?|dollars?|pounds?|[€$£])",
    re.IGNORECASE,
)
_DOMAINS = (
    ("names", re.compile(r"\b(?:call\w*|names?|nicknames?|address\w*)\b", re.IGNORECASE)),
    ("length", re.compile(r"\b(?:short\w*|long\w*|brief\w*|ramble\w*|rambling|paragraphs?|sentences?)\b", re.IGNORECASE)),
    ("questions", re.compile(r"\b(?:ask\w*|questions?)\b", re.IGNORECASE)),
    ("style", re.compile(r"\b(?:emojis?|words?|poet\w*|rhym\w*|swear\w*|curs\w*|tone|formal|jok\w*)\b", re.IGNORECASE)),
)
_TALK = "talk"


class Remark(BaseModel):
    """One occasion on which the user wished for something."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    words: str
    strength: Strength
    message: UUID
    session: UUID
    at: AwareDatetime
    unwanted: str = ""
    instead: str = ""
    wish: str = ""
    """The same as a sentence about the user, where a model has said it and it is grounded."""

    @property
    def correction(self) -> Correction:
        return Correction(self.words, self.strength, self.unwanted, self.instead)


class PreferenceRemarks(BaseModel):
    """Remarks that ask for the same."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    remarks: list[Remark] = Field(min_length=1)

    @property
    def strongest(self) -> Remark:
        """Of several as strong, the newest."""
        return min(self.remarks, key=lambda one: (one.strength, -one.at.timestamp()))

    @property
    def counts(self) -> bool:
        """Was it said often enough for how strongly it was said: once strongly, twice mildly, three times casually?"""
        return any(sum(one.strength <= strength for one in self.occasions) >= strength for strength in Strength)

    @property
    def occasions(self) -> list[Remark]:
        """One of each message, the strongest; what was sent once more word for word is no new occasion."""
        kept: dict[UUID, Remark] = {}
        for one in sorted(self.remarks, key=lambda one: one.strength):
            is_again = any(one.session == other.session and one.words == other.words for other in kept.values())
            if one.message not in kept and not is_again:
                kept[one.message] = one
        return sorted(kept.values(), key=lambda one: one.at)


def remarks_in(text: str, message: UUID, session: UUID, at: datetime) -> list[Remark]:
    """What rules hear in a message of the user's."""
    return [
        Remark(
            words=one.words,
            strength=one.strength,
            message=message,
            session=session,
            at=at,
            unwanted=one.unwanted,
            instead=one.instead,
        )
        for one in corrections(text)
    ]


def wishes(
    remarks: Iterable[Remark], near: Callable[[Remark, Remark], bool] = lambda _one, _other: False
) -> list[PreferenceRemarks]:
    """Remarks that ask for the same by their words, or are `near` each other by meaning, together; oldest first."""
    groups: list[list[Remark]] = []
    for one in sorted(remarks, key=lambda one: one.at):
        group = next((each for each in groups if any(_ask_alike(one, other) or near(one, other) for other in each)), None)
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    return [PreferenceRemarks(remarks=group) for group in groups]


def preference(wish: PreferenceRemarks, user: str, persona_id: str, run_id: UUID | None, moment: datetime) -> RecordedChange:
    """A lasting wish as a memory, with the words it was heard in."""
    best = wish.strongest
    told = next((one.wish for one in sorted(wish.remarks, key=lambda one: one.strength) if one.wish), "")
    content = told or f"{user} wants it so: “{best.words.rstrip('.!?… ')}.”"
    return _change(INFER, content, INFERRED, ["inferred"], wish, (persona_id, run_id, moment))


def anti_pattern(wish: PreferenceRemarks, user: str, persona_id: str, run_id: UUID | None, moment: datetime) -> RecordedChange:
    """“Don't X because Y, instead Z”, out of nothing but the user's own words."""
    best = next((one for one in sorted(wish.remarks, key=lambda one: one.strength) if one.unwanted), wish.strongest)
    what = in_third_person(best.unwanted or THAT, user)
    instead = next((one.instead for one in wish.remarks if one.instead), "")
    content = f"Don't {what}, because {user} objected: “{best.words.rstrip('.!?… ')}.”"
    if instead:
        content += f" Instead: {in_third_person(instead, user)}."
    tags = ["anti-pattern", *([FIRM] if best.strength is Strength.STRONG else [])]
    return _change(AVOID, content, f"{ANTI_PATTERNS}/{domain_of(best.words)}", tags, wish, (persona_id, run_id, moment))


def told_anti_pattern(
    avoid: str, because: str, instead: str, domain: str, wish: PreferenceRemarks, frame: tuple[str, UUID | None, datetime]
) -> RecordedChange:
    """The same as a model has put it."""
    content = f"Don't {avoid.strip().rstrip('.')} because {because.strip().rstrip('.')}"
    content += f", instead {instead.strip().rstrip('.')}." if instead.strip() else "."
    tags = ["anti-pattern", *([FIRM] if wish.strongest.strength is Strength.STRONG else [])]
    return _change(AVOID, content, f"{ANTI_PATTERNS}/{domain or _TALK}", tags, wish, frame)


def _change(
    what: str, content: str, filed: str, tags: Sequence[str], wish: PreferenceRemarks, frame: tuple[str, UUID | None, datetime]
) -> RecordedChange:
    persona_id, run_id, moment = frame
    memory = MemoryUnit(
        content=f"{content} {ASK_FIRST}" if is_delicate(content) else content,
        priority=4 - wish.strongest.strength,
        filed_under=filed,
        tags=list(tags),
        sources=[f"message:{one.message}" for one in wish.occasions],
        made_by=DREAM,
        needs_permission=is_delicate(content),
        added=moment,
        last_trigger=moment,
    )
    times = len(wish.occasions)
    return RecordedChange(
        run_id=run_id,
        persona_id=persona_id,
        at=moment,
        what=what,
        reason="You said so." if times == 1 else f"You said so {times} times.",
        before=Records().model_dump_json(),
        after=Records(memories=[memory]).model_dump_json(),
    )


def is_delicate(text: str) -> bool:
    """Does it touch safety, secrets or money? Then it is to be asked about before anything is done."""
    return _DELICATE.search(text) is not None


def domain_of(words: str) -> str:
    """What a complaint is about, in one word."""
    return next((name for name, pattern in _DOMAINS if pattern.search(words)), _TALK)


def in_third_person(words: str, user: str) -> str:
    """“call me Tommy” is “call Tomas Tommy”, for whoever reads it later."""
    owned = re.sub(r"\bmy\b", f"{user}'s", words, flags=re.IGNORECASE)
    return re.sub(r"\b(?:me|I|myself)\b", user, owned)


def firm(memories: Iterable[MemoryUnit]) -> set[UUID]:
    """The newest of what must never happen again: it stands in every prompt, the rest comes where it belongs."""
    held = [one for one in memories if one.filed_under.startswith(ANTI_PATTERNS) and FIRM in one.tags and one.enabled]
    return {one.guid for one in sorted(held, key=lambda one: one.added, reverse=True)[:MOST_FIRM]}


def _ask_alike(one: Remark, other: Remark) -> bool:
    return is_alike(one.correction, other.correction)
