"""Mood over time: changes by elapsed time, messages and sessions, with failing plug-in moodlets isolated."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from importlib.metadata import EntryPoint
from typing import TypeVar
from uuid import UUID

from lethe_app.brain.mood.model import BUILTIN_MOODLETS, STEPS, MoodChange, Moodlet, MoodMessage, clip_value
from lethe_app.dates.arithmetic import elapsed
from lethe_app.domain.mood import Feeling, Mood, MoodCause
from lethe_app.plugins import find_entry_points, load_plugins

Answer = TypeVar("Answer")
log = logging.getLogger(__name__)

CAUSE_THRESHOLD = 0.01
"""Minimum size of a change that alone replaces the stated cause."""
TOTAL_CAUSE_THRESHOLD = 0.03
"""Minimum sum of smaller changes that together replace the stated cause."""
TIME_CAUSE_THRESHOLD = 0.06
"""The same threshold for changes by time; it is higher so that they do not hide a change caused by the user."""


class MoodDynamics:
    """Mood transitions of a set of moodlets; each method returns a new mood. A moodlet that raises is disabled from then on."""

    def __init__(self, moodlets: Iterable[Moodlet]) -> None:
        self._moodlets = {moodlet.id: moodlet for moodlet in moodlets}

    @property
    def moodlets(self) -> list[Moodlet]:
        """Return the moodlets that have not failed."""
        return list(self._moodlets.values())

    def create_mood(self, moment: datetime) -> Mood:
        """Return the mood of a new persona."""
        return self.add_missing_feelings(Mood(at=moment))

    def add_missing_feelings(self, mood: Mood) -> Mood:
        """Return the mood with a feeling for each moodlet: new moodlets get their start value, feelings of missing plug-ins
        are kept.
        """
        missing = [one for one in self.moodlets if one.id not in mood.feelings]
        if not missing:
            return mood
        starts = {one.id: self._start_value(one) for one in missing}
        new = {id_: Feeling(value=value, since=mood.at) for id_, value in starts.items() if value is not None}
        return mood.model_copy(update={"feelings": mood.feelings | new})

    def apply_decay(self, mood: Mood, moment: datetime) -> Mood:
        """Return the mood at a later moment, with decay applied. If the clock was set back, values are unchanged and time
        counts from there.
        """
        elapsed_time = elapsed(mood.at, moment)
        feelings = dict(mood.feelings)
        for id_, feeling in mood.feelings.items():
            value = self._call_clipped(id_, feeling.value, lambda one, old: one.decay_value(old, elapsed_time))
            if value is not None:
                feelings[id_] = _change_feeling(feeling, value, MoodCause.REST, moment)
        return mood.model_copy(update={"at": moment, "feelings": feelings})

    def after_message(self, mood: Mood, message: MoodMessage) -> Mood:
        """Return the mood after a message: decay up to its moment, then the changes by the message."""
        mood = self.apply_decay(self.add_missing_feelings(mood), message.moment)
        feelings = dict(mood.feelings)
        for id_, before in mood.feelings.items():
            approached = self._call_clipped(id_, before.value, lambda one, old: one.approach_natural(old))
            if approached is None:
                continue
            feeling = before.model_copy(update={"value": approached})
            for nudge in self._collect_nudges(id_, approached, message):
                feeling = _change_feeling(feeling, clip_value(feeling.value + nudge.by), nudge.why, message.moment)
            feelings[id_] = feeling
        return mood.model_copy(update={"feelings": feelings})

    def after_session(self, mood: Mood, steps: Mapping[str, float], moment: datetime) -> Mood:
        """Return the mood after a session, changed by one of the five sizes in `STEPS` per moodlet; other steps are ignored."""
        mood = self.apply_decay(self.add_missing_feelings(mood), moment)
        changed = {
            id_: _change_feeling(mood.feelings[id_], clip_value(mood.feelings[id_].value + step), MoodCause.SESSION, moment)
            for id_, step in steps.items()
            if step in STEPS and id_ in mood.feelings
        }
        return mood.model_copy(update={"feelings": mood.feelings | changed})

    def set_value(self, mood: Mood, id_: str, value: float, moment: datetime) -> Mood:
        """Return the mood with a value set by the user."""
        mood = self.add_missing_feelings(mood)
        feeling = Feeling(value=clip_value(value), why=MoodCause.HAND.value, since=moment)
        return mood.model_copy(update={"feelings": mood.feelings | {id_: feeling}})

    def adjectives(self, mood: Mood, before: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the adjective of each moodlet, empty in the middle range; `before` are the current ones, which persist a
        little longer.
        """
        known = before or {}
        present_ids = [id_ for id_ in self._moodlets if id_ in mood.feelings]
        words = {id_: self._adjective_of(id_, mood.feelings[id_].value, known.get(id_, "")) for id_ in present_ids}
        # A moodlet that failed in `_adjective_of` has been removed meanwhile.
        return {id_: word for id_, word in words.items() if id_ in self._moodlets}

    def _adjective_of(self, id_: str, value: float, before: str) -> str:
        return self._call_moodlet(id_, lambda one: str(one.adjective(value, before))) or ""

    def _start_value(self, moodlet: Moodlet) -> float | None:
        return self._call_clipped(moodlet.id, 0.0, lambda one, _nothing: one.start)

    def _collect_nudges(self, id_: str, value: float, message: MoodMessage) -> list[MoodChange]:
        def nudges(moodlet: Moodlet) -> list[MoodChange]:
            found = [*moodlet.after_message(value, message), *(moodlet.after_session_start(value) if message.begins else ())]
            return [MoodChange(clip_value(abs(nudge.by)) * (1 if nudge.by > 0 else -1), str(nudge.why)) for nudge in found]

        return self._call_moodlet(id_, nudges) or []

    def _call_clipped(self, id_: str, value: float, compute: Callable[[Moodlet, float], float]) -> float | None:
        """Return a moodlet's result clipped to 0..1; None if the moodlet is missing or failed."""
        return self._call_moodlet(id_, lambda moodlet: clip_value(compute(moodlet, value)))

    def _call_moodlet(self, id_: str, compute: Callable[[Moodlet], Answer]) -> Answer | None:
        moodlet = self._moodlets.get(id_)
        if moodlet is None:
            return None
        try:
            return compute(moodlet)
        except Exception:  # whatever somebody else's code can do wrong
            log.exception("The moodlet “%s” failed and is left out from now on.", id_)
            del self._moodlets[id_]
            return None


def mark_changed_by(mood: Mood, session: UUID, message: UUID) -> Mood:
    """Return the mood marked as changed by a message; adjectives announced in another session are forgotten."""
    announced = mood.announced if mood.session == session else {}
    return mood.model_copy(update={"session": session, "message": message, "announced": announced})


def _change_feeling(feeling: Feeling, value: float, cause: str, moment: datetime) -> Feeling:
    """Return the feeling with a new value; the cause is replaced if the change is large enough, alone or with earlier small
    ones.
    """
    difference = value - feeling.value
    creep = feeling.creep + difference
    single_threshold, total_threshold = (
        (TIME_CAUSE_THRESHOLD,) * 2 if cause == MoodCause.REST else (CAUSE_THRESHOLD, TOTAL_CAUSE_THRESHOLD)
    )
    if abs(difference) < single_threshold and abs(creep) < total_threshold:
        return feeling.model_copy(update={"value": value, "creep": creep})
    return Feeling(value=value, why=str(cause), since=moment)


ENTRY_POINT_GROUP = "lethe.moodlets"


def load_moodlets(entries: Iterable[EntryPoint] | None = None) -> list[Moodlet]:
    """Return the built-in moodlets and the valid ones of plug-ins (by default the installed ones); an invalid or duplicate
    one is logged and left out.
    """
    moodlets = {moodlet.id: moodlet for moodlet in BUILTIN_MOODLETS}

    def add_moodlet(moodlet: object) -> None:
        if not isinstance(moodlet, Moodlet) or not moodlet.id:
            raise TypeError("it is not a Moodlet with an id.")
        if moodlet.id in moodlets:
            raise ValueError("there is already a mood with its id.")
        moodlets[moodlet.id] = moodlet

    found = find_entry_points(ENTRY_POINT_GROUP) if entries is None else entries
    _added, faults = load_plugins(found, add_moodlet, "The mood")
    for fault in faults:
        log.warning("Plug-in “%s”: %s", fault.distribution, fault.reason)
    return list(moodlets.values())
