"""What the user collects: theirs beside ours, read anew each time, broken files told and never lost."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.persona import Persona
from lethe_app.errors import ReadOnly


def own(services: AppServices, name: str, content: object, folder: str = "personas") -> Path:
    path = services.paths.home / folder / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


async def test_characters_and_the_users_own_selves_are_told_apart(services: AppServices):
    names = [persona.unique_name for persona in await services.library.personas()]
    selves = [persona.unique_name for persona in await services.library.user_personas()]

    assert {"mira", "mira-test"} <= set(names)
    assert "tomas" not in names
    assert "tomas" in selves


async def test_a_new_persona_gets_a_file_of_its_own_and_every_change_is_told(services: AppServices):
    reported: list[None] = []
    services.library.changed.add(reported.append)

    first = await services.library.save_persona(Persona(name="Ada Lovelace"))
    second = await services.library.save_persona(Persona(name="Ada Lovelace"))
    await services.library.save_persona(second.model_copy(update={"bio": "Counts."}))
    await services.library.delete_persona(first.unique_name)

    assert (first.unique_name, second.unique_name) == ("ada-lovelace", "ada-lovelace-2")
    assert (await services.library.persona("ada-lovelace-2")).bio == "Counts."
    assert len(reported) == 4


async def test_two_new_personas_of_one_name_saved_at_once_are_both_kept(services: AppServices):
    saved = await asyncio.gather(*(services.library.save_persona(Persona(name="Ada", bio=str(number))) for number in range(4)))

    assert len({persona.unique_name for persona in saved}) == 4
    assert {(await services.library.persona(persona.unique_name)).bio for persona in saved} == {"0", "1", "2", "3"}


async def test_what_ships_with_the_program_cannot_be_deleted_and_nothing_is_told(services: AppServices):
    reported: list[None] = []
    services.library.changed.add(reported.append)

    with pytest.raises(ReadOnly, match="comes with Lethe"):
        await services.library.delete_persona("mira")

    assert reported == []


async def test_an_edit_by_hand_is_seen_at_once(services: AppServices):
    own(services, "mira-test", {"name": "Mira", "tagline": "admiral"})

    assert (await services.library.persona("mira-test")).tagline == "admiral"


async def test_every_file_that_cannot_be_read_is_listed_with_its_field_and_the_rest_is_there(services: AppServices):
    clean = await services.library.errors()
    own(services, "wrong", {"name": "Ada", "worlds": "quarr"})
    own(services, "broken", '{"name": ')
    own(services, "w", {"name": "W", "entries": 3}, "worldinfo")
    own(services, "s", {"name": "S", "temperature": "hot"}, "presets/samplers")
    own(services, "p", [], "presets/system")
    own(services, "i", {"colour": 1}, "presets/instruct")

    problems = {problem.path.stem: problem for problem in await services.library.errors()}

    assert clean == []
    assert set(problems) == {"wrong", "broken", "w", "s", "p", "i"}
    assert (problems["wrong"].field, problems["w"].field, problems["s"].field) == ("worlds", "entries", "temperature")
    assert all(str(problem.path) in problem.message for problem in problems.values())
    assert "mira-test" in [persona.unique_name for persona in await services.library.personas()]


async def test_worlds_and_presets_of_the_user_stand_beside_ours(services: AppServices):
    own(services, "attic", {"name": "The attic", "entries": []}, "worldinfo")
    own(services, "hot", {"name": "Hot", "temperature": 1.5}, "presets/samplers")
    own(services, "brief", {"name": "Brief", "prompt": "You are {{char}}."}, "presets/system")

    assert {"attic", "quarr"} <= set(await services.library.worlds())
    assert (await services.library.sampler("hot")).temperature == 1.5
    assert {"hot", "default"} <= set(await services.library.samplers())
    assert {"brief", "default"} <= set(await services.library.system_presets())
    assert await services.library.instruct_presets()
