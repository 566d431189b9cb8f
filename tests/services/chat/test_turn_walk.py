"""A plain turn stays short: how many functions, modules and trips to storage one message takes, held by ceilings."""

from __future__ import annotations

from tests.bench.turn_walk import walked

MAX_FUNCTIONS, MAX_FILES, MAX_STORAGE_TRIPS = 250, 75, 5
"""Of the program, as `tests.bench.turn_walk` counts them; they may only fall."""


async def test_a_plain_turn_passes_few_functions_and_makes_few_trips_to_storage():
    walk = await walked()
    assert walk.trips <= MAX_STORAGE_TRIPS
    assert len(walk.files) <= MAX_FILES, sorted(walk.files)
    assert len(walk.functions) <= MAX_FUNCTIONS
