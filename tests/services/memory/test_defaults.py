"""What is so until the user changes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from lethe_app.brain.notebooks.document import Conclusion, Notebook
from lethe_app.brain.notebooks.filing import assign_conclusions
from lethe_app.brain.notebooks.subjects import load_subjects
from lethe_app.composition.app_services import AppServices
from lethe_app.config.settings import Settings
from lethe_app.domain.changes import TrashKind
from lethe_app.domain.clock import now, system_clock, use_clock
from lethe_app.domain.persona import Persona
from lethe_app.services.events import ModelReady
from lethe_app.services.prompting.assembler import share_after_cut
from tests.services.turns import DAY, MIRA, add_memory, say

Says = Callable[..., object]


def test_moods_and_notebooks_are_on_and_a_persona_has_moods_only_if_asked():
    settings = Settings()

    assert settings.mood_handling
    assert settings.notebooks
    assert not settings.static_mood
    assert not Persona(name="Ines").mood


def test_personas_may_be_busy_in_the_settings_and_none_is_until_asked():
    assert Settings().agents
    assert not Persona(name="Ines").agent_mode
    assert not Persona(name="Ines").can_initiate_chat


@pytest.mark.parametrize(("days", "is_there"), [(29, True), (31, False)])
async def test_the_trash_keeps_things_for_thirty_days(services: AppServices, days: int, is_there: bool):
    memory = await add_memory(services)
    await services.memory.forget_memory(memory.guid)

    with use_clock(lambda: system_clock() + days * DAY):
        await services.trash.purge_expired()

    left = [one.id for one in await services.trash.list_items() if one.kind is TrashKind.MEMORY]
    assert (str(memory.guid) in left) is is_there


@pytest.mark.parametrize(("days", "comes_up"), [(29, True), (32, False)])
async def test_a_reminder_nobody_came_back_for_is_kept_for_thirty_days(
    services: AppServices, says: Says, days: int, comes_up: bool
):
    await says(*["Yes."] * 3)
    await services.preferences.set(recall_without_match=0, rotation_minutes=0)
    session = await services.sessions.new(MIRA)
    await say(services, session, "Good evening.")
    await services.reminders.create_reminder(MIRA, "Call the vet.", (now() + DAY).astimezone().date())

    with use_clock(lambda: system_clock() + (1 + days) * DAY):
        outcome = await say(services, session, "I am back.")

    assert ("Call the vet." in (outcome.note.content if outcome.note else "")) is comes_up


def test_a_conclusion_about_another_known_matter_goes_to_the_notebook_of_that_matter(services: AppServices):
    matters = load_subjects([services.paths.resources / "subjects"])
    day = now().date()
    books = [Notebook("cooking", "Cooking"), Notebook("family", "Family")]
    found = [Conclusion("Tomas always cooks the broth himself.", day), Conclusion("Tomas's brother Otto is a nurse.", day)]

    sorted_out = assign_conclusions(found, ["cooking", "cooking"], "cooking", books, matters)

    assert {name: [one.text for one in those] for name, those in sorted_out.by_notebook.items()} == {
        "cooking": [found[0].text],
        "family": [found[1].text],
    }


@pytest.mark.parametrize(("surgery", "can_shift", "kept"), [(True, True, 0.65), (True, False, 0.4), (False, True, 0.4)])
async def test_a_cut_keeps_less_where_all_that_is_kept_has_to_be_read_again(
    services: AppServices, says: Says, surgery: bool, can_shift: bool, kept: float
):
    await says("Yes.")
    await services.preferences.set(cache_surgery=surgery)
    state = services.models.state
    assert isinstance(state, ModelReady)

    assert share_after_cut(services.preferences.current, replace(state.model, can_shift=can_shift)) == kept


def test_silence_of_an_hour_ends_a_conversation():
    assert timedelta(minutes=Settings().rotation_minutes) == timedelta(hours=1)
