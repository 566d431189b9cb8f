"""Mood over time: changes by elapsed time, messages and sessions, with failing plug-in moodlets isolated."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar
from uuid import UUID

from lethe_app.brain.dates.arithmetic import elapsed
from lethe_app.brain.mood.model import OURS, STEPS, Moodlet, MoodMessage, Nudge, clipped
from lethe_app.domain.mood import Feeling, Mood, MoodCause

Answer = TypeVar("Answer")
log = logging.getLogger(__name__)

NOTICED = 0.01
"""Minimum size of a change that alone replaces the stated cause."""
NOTICED_TOGETHER = 0.03
"""Minimum sum of smaller changes that together replace the stated cause."""
NOTICED_OF_TIME = 0.06
"""The same threshold for changes by time; it is higher so that they do not hide a change caused by the user."""


class Life:
    """Mood transitions of a set of moodlets; each method returns a new mood. A moodlet that raises is disabled from then on."""

    def __init__(self, moodlets: Iterable[Moodlet]) -> None:
        self._moodlets = {moodlet.id: moodlet for moodlet in moodlets}

    @property
    def moodlets(self) -> list[Moodlet]:
        """Return the moodlets that have not failed."""
        return list(self._moodlets.values())

    def fresh(self, moment: datetime) -> Mood:
        """Return the mood of a new persona."""
        return self.complete(Mood(at=moment))

    def complete(self, mood: Mood) -> Mood:
        """Return the mood with a feeling for each moodlet: new moodlets get their start value, feelings of missing plug-ins
        are kept.
        """
        missing = [one for one in self.moodlets if one.id not in mood.feelings]
        if not missing:
            return mood
        starts = {one.id: self._start(one) for one in missing}
        new = {id_: Feeling(value=value, since=mood.at) for id_, value in starts.items() if value is not None}
        return mood.model_copy(update={"feelings": mood.feelings | new})

    def at(self, mood: Mood, moment: datetime) -> Mood:
        """Return the mood at a later moment, with decay applied. If the clock was set back, values are unchanged and time
        counts from there.
        """
        away = elapsed(mood.at, moment)
        feelings = dict(mood.feelings)
        for id_, feeling in mood.feelings.items():
            value = self._asked(id_, feeling.value, lambda one, old: one.after(old, away))
            if value is not None:
                feelings[id_] = _moved(feeling, value, MoodCause.REST, moment)
        return mood.model_copy(update={"at": moment, "feelings": feelings})

    def after_message(self, mood: Mood, heard: MoodMessage) -> Mood:
        """Return the mood after a message: decay up to its moment, then the changes by the message."""
        mood = self.at(self.complete(mood), heard.moment)
        feelings = dict(mood.feelings)
        for id_, before in mood.feelings.items():
            calm = self._asked(id_, before.value, lambda one, old: one.calmed(old))
            if calm is None:
                continue
            feeling = before.model_copy(update={"value": calm})
            for nudge in self._nudges(id_, calm, heard):
                feeling = _moved(feeling, clipped(feeling.value + nudge.by), nudge.why, heard.moment)
            feelings[id_] = feeling
        return mood.model_copy(update={"feelings": feelings})

    def after_session(self, mood: Mood, steps: Mapping[str, float], moment: datetime) -> Mood:
        """Return the mood after a session, changed by one of the five sizes in `STEPS` per moodlet; other steps are ignored."""
        mood = self.at(self.complete(mood), moment)
        moved = {
            id_: _moved(mood.feelings[id_], clipped(mood.feelings[id_].value + step), MoodCause.SESSION, moment)
            for id_, step in steps.items()
            if step in STEPS and id_ in mood.feelings
        }
        return mood.model_copy(update={"feelings": mood.feelings | moved})

    def set_value(self, mood: Mood, id_: str, value: float, moment: datetime) -> Mood:
        """Return the mood with a value set by the user."""
        mood = self.complete(mood)
        feeling = Feeling(value=clipped(value), why=MoodCause.HAND.value, since=moment)
        return mood.model_copy(update={"feelings": mood.feelings | {id_: feeling}})

    def adjectives(self, mood: Mood, before: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the adjective of each moodlet, empty in the middle range; `before` are the current ones, which persist a
        little longer.
        """
        known = before or {}
        there = [id_ for id_ in self._moodlets if id_ in mood.feelings]
        words = {id_: self._word(id_, mood.feelings[id_].value, known.get(id_, "")) for id_ in there}
        # A moodlet that failed in `_word` has been removed meanwhile.
        return {id_: word for id_, word in words.items() if id_ in self._moodlets}

    def _word(self, id_: str, value: float, before: str) -> str:
        return self._guarded(id_, lambda one: str(one.adjective(value, before))) or ""

    def _start(self, moodlet: Moodlet) -> float | None:
        return self._asked(moodlet.id, 0.0, lambda one, _nothing: one.start)

    def _nudges(self, id_: str, value: float, heard: MoodMessage) -> list[Nudge]:
        def nudges(moodlet: Moodlet) -> list[Nudge]:
            found = [*moodlet.after_message(value, heard), *(moodlet.begun(value) if heard.begins else ())]
            return [Nudge(clipped(abs(nudge.by)) * (1 if nudge.by > 0 else -1), str(nudge.why)) for nudge in found]

        return self._guarded(id_, nudges) or []

    def _asked(self, id_: str, value: float, question: Callable[[Moodlet, float], float]) -> float | None:
        """Return a moodlet's result clipped to 0..1; None if the moodlet is missing or failed."""
        return self._guarded(id_, lambda moodlet: clipped(question(moodlet, value)))

    def _guarded(self, id_: str, question: Callable[[Moodlet], Answer]) -> Answer | None:
        moodlet = self._moodlets.get(id_)
        if moodlet is None:
            return None
        try:
            return question(moodlet)
        except Exception:  # whatever somebody else's code can do wrong
            log.exception("The moodlet “%s” failed and is left out from now on.", id_)
            del self._moodlets[id_]
            return None


def affected(mood: Mood, session: UUID, message: UUID) -> Mood:
    """Return the mood marked as changed by a message; adjectives announced in another session are forgotten."""
    told = mood.told if mood.session == session else {}
    return mood.model_copy(update={"session": session, "message": message, "told": told})


def _moved(feeling: Feeling, value: float, why: str, moment: datetime) -> Feeling:
    """Return the feeling with a new value; the cause is replaced if the change is large enough, alone or with earlier small
    ones.
    """
    by = value - feeling.value
    creep = feeling.creep + by
    alone, together = (NOTICED_OF_TIME,) * 2 if why == MoodCause.REST else (NOTICED, NOTICED_TOGETHER)
    if abs(by) < alone and abs(creep) < together:
        return feeling.model_copy(update={"value": value, "creep": creep})
    return Feeling(value=value, why=str(why), since=moment)


GROUP = "lethe.moodlets"


def installed() -> list[EntryPoint]:
    """Return the entry points of moodlet plug-ins installed on this computer."""
    return list(entry_points(group=GROUP))


def moodlets(offered: Iterable[EntryPoint]) -> list[Moodlet]:
    """Return the built-in moodlets and the valid ones among those offered; an invalid or duplicate one is logged and left
    out.
    """
    found = {moodlet.id: moodlet for moodlet in OURS}
    for entry in offered:
        try:
            moodlet = entry.load()
        except Exception:  # whatever somebody else's code can do wrong
            log.exception("The mood “%s” could not be loaded.", entry.name)
            continue
        if not isinstance(moodlet, Moodlet) or not moodlet.id or moodlet.id in found:
            log.warning("The mood “%s” is left out: it is no moodlet, or there is one of its name already.", entry.name)
            continue
        found[moodlet.id] = moodlet
    return list(found.values())
