"""Conversations so long that they outgrow any context, with everything a persona can remember at work in them.

`velm` is made from sentences of our own with gaps, drawn in the same order every time; `of_locomo` reads a file in the public
LoCoMo format, where what is known of the two speakers is what the file says is known.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from uuid import UUID

from lethe_app.domain.memory import MemoryInsertion, MemoryUnit
from lethe_app.domain.persona import Persona
from lethe_app.domain.worldinfo import World, WorldEntry
from tests.bench._locomo_stories import sessions_of

Exchange = tuple[str, str]
"""The user's words and the reply."""
WORD = re.compile(r"[A-Za-z][a-z]{4,}")
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class TalkScript:
    """Who speaks, what she knows, and everything that is said."""

    persona: Persona
    user: Persona
    world: World
    memories: Sequence[MemoryUnit]
    facts: Sequence[str]
    earlier: Sequence[Sequence[Exchange]]
    """Conversations that are over, the oldest first."""
    talk: Sequence[Exchange]
    """The present one."""


VELM = json.loads(Path(__file__).with_name("velm.json").read_text(encoding="utf-8"))


def numbered() -> Iterator[UUID]:
    """Identities that are the same in every run."""
    return (UUID(int=number) for number in itertools.count(1))


def velm(turns: int) -> TalkScript:
    """A talk of that many exchanges, and three short ones before it."""
    rng, ids = Random(11), numbered()
    names = enumerate({**VELM["who"], **VELM["what"]}.items())
    memories = [known(next(ids), name, text, place) for place, (name, text) in names]
    entries = [entry(next(ids), name, text, place) for place, (name, text) in enumerate(VELM["where"].items())]
    return TalkScript(
        persona=Persona.model_validate(VELM["persona"]),
        user=Persona.model_validate(VELM["user"]),
        world=World(name="Velm", entries=[always(next(ids), VELM["always"]), *entries]),
        memories=[*memories, *waiting(ids, VELM["waiting"])],
        facts=VELM["facts"],
        earlier=[[(asked, reply) for asked, reply in one] for one in VELM["earlier"]],
        talk=spoken(rng, turns),
    )


def spoken(rng: Random, count: int) -> list[Exchange]:
    """So many exchanges; now and then Tomas speaks of himself."""
    own = itertools.cycle(tuple(said) for said in VELM["own_words"])
    return [
        next(own) if number % 15 == 9 else (filled(rng, VELM["asked"]), filled(rng, VELM["said"])) for number in range(count)
    ]


def filled(rng: Random, patterns: Sequence[str]) -> str:
    words = {name: rng.choice(list(VELM[name])) for name in ("who", "where", "what", "when")}
    text = rng.choice(patterns).format(**words)
    return text[0].upper() + text[1:]


def known(guid: UUID, name: str, text: str, place: int) -> MemoryUnit:
    """A memory that its name brings up, at one depth or another; some stay for a second turn."""
    return MemoryUnit(
        guid=guid, name=name, content=text, keywords_main=[name], priority=1 + place % 3, position_index=place % 4,
        duration=1 + (place % 5 == 0), protected=True,
    )  # fmt: skip


def entry(guid: UUID, name: str, text: str, place: int) -> WorldEntry:
    """The same for a piece of lore, without a depth: below one, all messages would be evaluated again in every turn."""
    return WorldEntry(
        guid=guid, name=name, content=text, keywords_main=[name],
        duration=1 + (place % 3 == 0), added=LONG_AGO,
    )  # fmt: skip


def always(guid: UUID, text: str) -> WorldEntry:
    """Lore that stands in the system prompt whatever is said."""
    return WorldEntry(guid=guid, name="Always", content=text, sticky=True, position_index=-1, added=LONG_AGO)


def waiting(ids: Iterator[UUID], news: Sequence[tuple[str, str, Sequence[str]]]) -> list[MemoryUnit]:
    """Natural memories that wait for their moment, and one for the user's return."""
    back = MemoryUnit(
        guid=next(ids), name="While away", content="The harbour master asked for {{user}}.",
        insertion=MemoryInsertion.USER_RETURN,
    )  # fmt: skip
    natural = [
        MemoryUnit(
            guid=next(ids), name=name, content=text, keywords_main=list(words), insertion=MemoryInsertion.NATURAL, priority=3
        )
        for name, text, words in news
    ]
    return [back, *natural]


def of_locomo(path: Path, turns: int) -> TalkScript:
    """The longest conversation of the file: its last sessions are the talk, those before it are over."""
    sample = max(json.loads(path.read_text(encoding="utf-8")), key=lambda one: sum(map(len, sessions(one))))
    names = sample["conversation"]["speaker_a"], sample["conversation"]["speaker_b"]
    said = [exchanges(session, names[0]) for session in sessions(sample)]
    earlier = list(said)
    talk: list[Exchange] = []
    while earlier and len(talk) < turns:
        talk = [*earlier.pop(), *talk]
    observed = [
        str(fact[0])
        for number in range(1, len(said) + 1)
        for facts in sample["observation"].get(f"session_{number}_observation", {}).values()
        for fact in facts
    ]
    ids = numbered()
    keyed = [(words, text) for text in observed if (words := rare_words(text, observed))]
    memories = [known(next(ids), words[0], text, place) for place, (words, text) in enumerate(keyed) if place % 2]
    entries = [entry(next(ids), words[0], text, place) for place, (words, text) in enumerate(keyed) if not place % 2]
    news = [(words[0], text, words) for words, text in keyed[:4]]
    fixed = always(next(ids), f"{names[0]} and {names[1]} have been friends for years.")
    return TalkScript(
        persona=Persona(name=names[1], bio="{{char}} is an old friend of {{user}}.", worlds=["velm"], sense_of_time=True),
        user=Persona(is_user=True, name=names[0]),
        world=World(name="What is known", entries=[fixed, *entries]),
        memories=[*memories, *waiting(ids, news)],
        facts=observed[:20],
        earlier=earlier[-4:],
        talk=talk[-turns:],
    )


def sessions(sample: dict) -> list[list[dict]]:
    """What was said, session by session."""
    return [sample["conversation"][f"session_{number}"] for number in sessions_of(sample)]


def exchanges(session: Sequence[dict], user: str) -> list[Exchange]:
    """Words and answers in turn; who says several things says them at once, and nobody answers nothing."""
    spoken = [
        (mine, " ".join(line["text"] for line in lines))
        for mine, lines in itertools.groupby(session, key=lambda line: line["speaker"] == user)
    ]
    spoken = spoken if spoken and spoken[0][0] else [(True, "Hello."), *spoken]
    return [(mine[1], reply[1]) for mine, reply in itertools.pairwise(spoken) if mine[0]]


def rare_words(text: str, others: Sequence[str]) -> list[str]:
    """Up to two of its words that few of the others have."""
    words = dict.fromkeys(WORD.findall(text))
    seen = Counter({word: sum(word in other for other in others) for word in words})
    return sorted((word for word in words if seen[word] < len(others) / 20), key=lambda word: seen[word])[:2]
