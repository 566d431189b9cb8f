"""What is left of a first evening? Everything at its default, as a new user finds it, save that the evening itself does not
stand in later prompts word for word: after a few more evenings it would not.

Three people tell a persona about themselves for an evening: one plainly, one half in roleplay, one to a persona that invents a
shared past. The evening is archived, by rules and (`scripted_`) by a model whose answers are written down, and the next evening
each question is asked in a new conversation, and lines that mean nothing are said. `_told_evening` explains texts and labels.

- `facts_right`: percent of what was told that holds as an active fact about the user's life; the rest is `facts_missing`.
- `facts_wrong`: percent of the active facts that are no fact: a trap, outdated, or stated by nobody.
- `invented`: facts, sentences of the summary, titles, keywords and goals with something that only the persona made up.
- `recall_hit`: percent of the questions whose answer stands in the prompt, in whatever part; `recall_first`: in what came to
  mind first.
- `quiet`: percent of the meaningless lines at which nothing comes to mind.
- `summary_grounded`: percent of the sentences of the summary that the user's own lines support.
- `true_kept`, `false_kept` (scripted only): percent of the true and of the false facts the model notes that are known then.

Without a prefix the figures are the mean of the three evenings, archived by rules. The evenings `unseen…` are for measuring
only: nobody changes a rule because of them, and their mistakes are not shown unless asked for. No model's answers are written
down for the second and third.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import timedelta
from unittest.mock import patch

from lethe_app.composition import core
from lethe_app.composition.app_services import AppServices
from lethe_app.config.options import SessionHandling
from lethe_app.domain.chat import ChatSession, Role, SessionPart
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.recall import RecalledMemory, TurnMemory
from lethe_app.llm.client import ModelClient
from lethe_app.services.events import MemoriesRecalled
from tests.bench._evening import still_time
from tests.bench._scripted_writer import ScriptedWriter
from tests.bench._setup import built
from tests.bench._told_evening import Question, ToldEvening, read, sentences
from tests.bench.facts import words_of
from tests.bench.report import Measured, Row, run
from tests.services.past_sessions import hold, load_script, qualify
from tests.services.tasks import Clock

TUNED = ("plain", "roleplay", "inventing")
UNSEEN = ("unseen", "unseen_second", "unseen_third")
SAME = 0.8
"""Share of the words of a noted fact that a known one must have to be the same."""
MODES = {"rules": "", "scripted": "scripted_"}
BETWEEN = timedelta(seconds=70)
"""From one message to the next."""
REPLY = "Mm-hm."
"""What the persona says the next evening: nothing that could answer anything."""


@dataclass
class Outcome:
    """What became of one evening."""

    evening: ToldEvening
    facts: list[str] = field(default_factory=list)
    written: list[tuple[str, str]] = field(default_factory=list)
    """Part and text: the title, each sentence of the summary, each keyword and goal."""
    answered: list[tuple[Question, bool, bool]] = field(default_factory=list)
    """Whether the prompt held the answer, and whether the first memory did."""
    heard: list[tuple[str, list[str]]] = field(default_factory=list)
    """Meaningless lines and the titles of what they brought up."""

    @property
    def missing(self) -> list[tuple[str, str]]:
        """Told facts that do not hold, with the message."""
        found = self.evening.needed
        texts = [text for _users, text in self.evening.messages]
        return [(label.id, texts[label.message]) for label in found if not any(map(label.is_stated, self.facts))]

    @property
    def wrong(self) -> list[tuple[str, str]]:
        because = [(fact, self.evening.wrong_because(fact)) for fact in self.facts]
        return [(fact, reason) for fact, reason in because if reason]

    @property
    def invented(self) -> list[tuple[str, str, list[str]]]:
        texts = [*(("fact", fact) for fact in self.facts), *self.written]
        found = [(part, text, self.evening.inventions_in(text)) for part, text in texts]
        return [each for each in found if each[2]]

    @property
    def ungrounded(self) -> list[str]:
        return [text for part, text in self.written if part == "summary" and not self.evening.is_grounded(text)]

    def figures(self) -> dict[str, float]:
        told, summary = self.evening.needed, [text for part, text in self.written if part == "summary"]
        missing = percent(len(self.missing), len(told))
        return {
            "facts_right": 100 - missing,
            "facts_wrong": percent(len(self.wrong), len(self.facts)),
            "facts_missing": missing,
            "invented": float(len(self.invented)),
            "recall_hit": percent(sum(hit for _question, hit, _first in self.answered), len(self.answered)),
            "recall_first": percent(sum(first for _question, _hit, first in self.answered), len(self.answered)),
            "quiet": percent(sum(not came for _line, came in self.heard), len(self.heard)),
            "summary_grounded": 100 - percent(len(self.ungrounded), len(summary)),
        }


def kept(outcome: Outcome) -> dict[str, float]:
    """How many of the facts a model noted are known then, perhaps in slightly other words."""
    known = [words_of(fact) for fact in outcome.facts]
    figures = {}
    for key, is_true in (("true_kept", True), ("false_kept", False)):
        noted = [words_of(each.fact) for each in outcome.evening.noted if each.is_true == is_true]
        there = sum(any(len(words & fact) >= SAME * len(words) for fact in known) for words in noted)
        figures[key] = percent(there, len(noted))
    return figures


def percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


async def play(evening: ToldEvening, *, scripted: bool) -> Outcome:
    """Hold the evening, archive it, and come back a day later."""
    model = ScriptedWriter(evening)

    def client(*, embeds_texts: bool = False) -> ModelClient:
        return ModelClient(embeds_texts=True) if embeds_texts else model

    personas = {"she": {"name": evening.persona, "bio": evening.bio}, "you": {"name": evening.user, "is_user": True}}
    alone = {"welcomed": True, "session_handling": SessionHandling.CURRENT_ONLY}
    with still_time(evening.begun) as clock, patch.object(core, "ModelClient", client):
        async with built("echo", personas, by_meaning=True, **alone) as services:
            replies = [REPLY] * (len(evening.questions) + len(evening.idle) + 1)
            await load_script(services, services.paths.home / "script.json", name="writer", replies=replies)
            if scripted:
                qualify(services)
            began, roles = evening.begun, {True: Role.USER, False: Role.ASSISTANT}
            lines = [(roles[is_users], text) for is_users, text in evening.messages]
            session = await hold(services, *lines, persona="she", user="you", at=began, pause=BETWEEN)
            clock.shown = began + (len(lines) - 1) * BETWEEN + timedelta(minutes=5)
            outcome = Outcome(evening)
            await archive(services, session, outcome)
            clock.shown = evening.begun + timedelta(days=1)
            await ask_questions(services, model, clock, outcome)
            await say_idle_lines(services, clock, outcome)
            return outcome


async def archive(services: AppServices, session: ChatSession, outcome: Outcome) -> None:
    """The conversation is over: what is known and told of it."""
    assert await services.archive_queue.archive_session(session.guid)
    await services.archive_queue.finish()
    await services.indexing.catch_up()
    outcome.facts = [fact.fact for fact in await services.facts.facts_of("she") if holds(fact)]
    found = await services.sessions.open(session.guid)
    outcome.written = [
        (SessionPart.TITLE.value, found.name),
        *((SessionPart.SUMMARY.value, each) for each in sentences(found.content)),
        *((SessionPart.KEYWORDS.value, each) for each in found.keywords_main),
        *((SessionPart.GOALS.value, each) for each in found.future_goals),
    ]


def holds(fact: ExtractedFact) -> bool:
    """Is it known about somebody's life, now?"""
    return not fact.superseded and not fact.in_story


async def ask_questions(services: AppServices, model: ScriptedWriter, clock: Clock, outcome: Outcome) -> None:
    """Every question in a new conversation, which is deleted again."""
    for question in outcome.evening.questions:
        clock.shown += BETWEEN
        session = await services.sessions.new("she")
        memory = await send(services, session, question.text)
        prompt = model.prompts[-1].replace(question.text, "").replace(outcome.evening.bio, "")
        first = memory.recalled[:1]
        outcome.answered.append((question, question.is_answered_by(prompt), any(map(question.is_answered_by, inserted(first)))))
        await services.sessions.delete(session.guid)


def inserted(memories: Sequence[RecalledMemory]) -> list[str]:
    return [text for one in memories for text in (one.text, *(lead.text for lead in one.leads))]


async def say_idle_lines(services: AppServices, clock: Clock, outcome: Outcome) -> None:
    """All meaningless lines one after the other, when the conversation has begun."""
    session = await services.sessions.new("she")
    await send(services, session, "hi again")
    for line in outcome.evening.idle:
        clock.shown += BETWEEN
        memory = await send(services, session, line)
        leads = [one.leads[0].text if one.leads else one.text for one in memory.recalled]
        outcome.heard.append((line, leads))


async def send(services: AppServices, session: ChatSession, text: str) -> TurnMemory:
    """What came to mind."""
    memory = TurnMemory()
    async with aclosing(services.chat.send(session.guid, text)) as events:
        async for event in events:
            if isinstance(event, MemoriesRecalled):
                memory = event.memory
    return memory


def explain(outcome: Outcome) -> None:
    """What is missing, wrong, invented, not found and brought up in vain, with the messages."""
    for label, message in outcome.missing:
        print(f"missing   {label}   ← {message}")
    for fact, reason in outcome.wrong:
        print(f"wrong     {fact}   ({reason})")
    for part, text, words in outcome.invented:
        print(f"invented  {part}: {text}   ({', '.join(words)})")
    for text in outcome.ungrounded:
        print(f"unfounded {text}")
    for question, hit, first in outcome.answered:
        if not (hit and first):
            print(f"{'not first' if hit else 'no answer'} {question.text}")
    for line, came in outcome.heard:
        for text in came:
            print(f"brought up at “{line}”: {text}")


def mean(figures: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Of several evenings; inventions are counted."""
    return {key: sum(each[key] for each in figures) / (1 if key == "invented" else len(figures)) for key in figures[0]}


async def measure(wanted: argparse.Namespace) -> Measured:
    """Play the evenings that are wanted, and show their mistakes."""
    modes = [mode for mode in MODES if getattr(wanted, mode)] or list(MODES)
    names = [wanted.evening] if wanted.evening else [*TUNED, *UNSEEN]
    rows: list[Row] = []
    result: dict[str, float] = {}
    for mode in modes:
        columns: dict[str, dict[str, float]] = {}
        for name in names:
            evening = read(name)
            if mode == "scripted" and not evening.written:
                continue
            outcome = await play(evening, scripted=mode == "scripted")
            columns[name] = outcome.figures() | (kept(outcome) if mode == "scripted" else {})
            if (wanted.explain and name not in UNSEEN) or (wanted.explain_unseen and name in UNSEEN):
                print(f"── {name}, {mode}")
                explain(outcome)
        tuned = [figures for name, figures in columns.items() if name not in UNSEEN]
        if len(tuned) > 1:
            columns["all three"] = mean(tuned)
        rows.append((mode, columns))
        for name, figures in columns.items():
            prefix = MODES[mode] + ("" if name == "all three" else f"{name}_")
            result |= {prefix + key: value for key, value in figures.items()}
    return rows, result


if __name__ == "__main__":
    unseen_help = "show those of the unseen evening too: it is unseen no more then"
    run(
        __doc__,
        measure,
        ("--rules", {"action": "store_true", "help": "archive by rules only"}),
        ("--scripted", {"action": "store_true", "help": "archive by the scripted model only"}),
        ("--explain", {"action": "store_true", "help": "show the mistakes"}),
        ("--explain-unseen", {"action": "store_true", "help": unseen_help}),
        ("--evening", {"choices": [*TUNED, *UNSEEN], "help": "only this one"}),
    )
