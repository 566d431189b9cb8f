"""Samplers that suit a persona are taken when she speaks, and only then."""

from __future__ import annotations

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import SamplerPreset

USUAL = "small-models"


def somebody(*samplers: str) -> Persona:
    return Persona(name="Mira", allowed_samplers=list(samplers))


async def taken(services: AppServices, *samplers: str) -> SamplerPreset:
    return services.participants.read_sampler(somebody(*samplers), USUAL)


async def test_a_persona_without_its_own_samplers_uses_the_default_one(services: AppServices):
    assert await taken(services) == await services.library.sampler(USUAL)


async def test_the_first_that_suits_the_persona_is_taken_where_the_chosen_one_does_not(services: AppServices):
    first, second = [name for name in sorted(await services.library.samplers()) if name != USUAL][:2]

    assert await taken(services, second, first) == await services.library.sampler(second)


async def test_the_chosen_one_stays_if_it_is_among_those_of_the_persona(services: AppServices):
    await services.preferences.set(sampler=USUAL)

    assert await taken(services, "default", USUAL) == await services.library.sampler(USUAL)


@pytest.mark.parametrize("names", [("gone",), ("gone", "default")])
async def test_one_that_is_gone_gives_way_to_the_next(services: AppServices, names: tuple[str, ...]):
    wanted = "default" if "default" in names else USUAL

    assert await taken(services, *names) == await services.library.sampler(wanted)


async def test_the_temperature_of_the_settings_applies_to_the_preset_of_a_persona_too(services: AppServices):
    await services.preferences.set(temperature_override=0.1)

    assert (await taken(services, "default")).temperature == 0.1
