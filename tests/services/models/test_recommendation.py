"""Which model is recommended for which computer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.model import ModelFile, RemoteModel
from lethe_app.llm.models.discovery import STARTER_SOURCE
from lethe_app.services.models.hardware import Hardware, HardwareProfile
from lethe_app.services.models.recommendation import (
    READING_SPEED,
    FitLevel,
    assess_downloads,
    estimate_speed,
    is_better_than,
    rank_local_models,
    words_per_second,
)

GB = 1_000_000_000
LAPTOP_BANDWIDTH = 30 * GB
"""What two channels of DDR4 really give."""


def computer(memory: float, bandwidth: float = LAPTOP_BANDWIDTH, gpu: float = 0, cores: int = 0) -> Hardware:
    return Hardware(int(memory * 1.074 * GB), int(memory * 0.6 * GB), bandwidth, int(gpu * GB), cores)


async def at_start(services: AppServices, bandwidth: float, name: str = "laptop") -> Hardware:
    """The hardware as a start of the program knows it that measures this bandwidth."""
    return await HardwareProfile(services.app_state, lambda _seconds: replace(computer(16, bandwidth), computer=name)).current()


async def recommended(services: AppServices, hardware: Hardware) -> str:
    found = assess_downloads(await services.downloads.list_offers(), hardware)
    return next((one.model.name for one in found if one.is_recommended), "")


@pytest.mark.parametrize(
    ("hardware", "expected"),
    [
        (computer(2), ""),
        (computer(4), "SmolLM2 1.7B Instruct"),
        (computer(8), "Llama 3.2 3B Instruct"),
        (computer(16), "Llama 3.2 3B Instruct"),
        (computer(32, bandwidth=50 * GB), "Qwen2.5 7B Instruct"),
        (computer(64, bandwidth=100 * GB), "Mistral Nemo 12B Instruct"),
        (computer(64, bandwidth=200 * GB), "Mistral Small 24B Instruct"),
        (computer(64, bandwidth=200 * GB, cores=2), "Llama 3.2 3B Instruct"),
        (computer(64, bandwidth=5 * GB), "Qwen2.5 1.5B Instruct"),
        (computer(16, gpu=12.5), "Mistral Nemo 12B Instruct"),
        (computer(16, gpu=24), "Mistral Small 24B Instruct"),
    ],
)
async def test_the_largest_model_that_fits_and_is_fast_enough_is_recommended(
    services: AppServices, hardware: Hardware, expected: str
):
    assert await recommended(services, hardware) == expected


@pytest.mark.parametrize("expected_bandwidth", [LAPTOP_BANDWIDTH, 50 * GB])
@pytest.mark.parametrize("load", [0.1, 0.5, 0.9, 1.2])
async def test_a_start_under_another_load_recommends_the_same_model_with_the_same_speed(
    services: AppServices, expected_bandwidth: float, load: float
):
    first = await at_start(services, expected_bandwidth)

    second = await at_start(services, load * expected_bandwidth)

    assert await recommended(services, second) == await recommended(services, first)
    assert estimate_speed(2 * GB, second) == estimate_speed(2 * GB, first)


async def test_a_much_better_measurement_replaces_that_of_a_busy_start(services: AppServices):
    await at_start(services, 5 * GB)

    assert (await at_start(services, LAPTOP_BANDWIDTH)).bandwidth == LAPTOP_BANDWIDTH
    assert (await at_start(services, 5 * GB)).bandwidth == LAPTOP_BANDWIDTH


async def test_another_computer_is_measured_anew(services: AppServices):
    await at_start(services, LAPTOP_BANDWIDTH)

    assert (await at_start(services, 5 * GB, name="netbook")).bandwidth == 5 * GB


async def test_nothing_is_recommended_that_writes_slower_than_people_read_while_a_smaller_one_is_faster(services: AppServices):
    offers = await services.downloads.list_offers()
    for bandwidth in range(4, 120, 2):
        found = assess_downloads(offers, computer(64, bandwidth * GB))
        best = next(one for one in found if one.is_recommended)
        assert words_per_second(best.speed) >= READING_SPEED or best is found[0]


def test_what_fits_only_into_memory_that_is_in_use_is_tight():
    models = [
        RemoteModel(name=name, repository="a/b", file=f"{name}.gguf", size=GB, memory=memory * GB)
        for name, memory in (("small", 2), ("medium", 5), ("large", 9))
    ]
    hardware = Hardware(8 * GB, 3 * GB, LAPTOP_BANDWIDTH)

    assert [one.level for one in assess_downloads(models, hardware)] == [FitLevel.FITS, FitLevel.TIGHT, FitLevel.TOO_LARGE]


def test_the_speed_falls_with_the_size_and_is_unknown_without_a_measurement():
    assert estimate_speed(2 * GB, computer(8)) == pytest.approx(2 * estimate_speed(4 * GB, computer(8)), rel=0.1)
    assert estimate_speed(2 * GB, computer(8, bandwidth=0)) == 0


@pytest.mark.parametrize(("local_size", "is_better"), [(98_000_000, True), (1_200_000_000, True), (1_900_000_000, False)])
def test_a_download_is_recommended_only_where_the_models_at_hand_are_much_smaller(local_size: int, is_better: bool):
    model = RemoteModel(name="Three", repository="a/b", file="three.gguf", size=2 * GB, memory=4 * GB)
    local = ModelFile(Path("local.gguf"), "Local", local_size, "llama")

    assert is_better_than(model, [local], computer(8)) is is_better
    assert is_better_than(model, [], computer(8))


def test_of_the_models_on_this_computer_the_largest_that_is_fast_enough_comes_first():
    sizes = {"Starter": 98_000_000, "Seven": 4_700_000_000, "Three": 2_000_000_000, "Twelve": 7_500_000_000, "One": GB}
    models = [
        ModelFile(Path(f"{name}.gguf"), name, size, "llama", source=STARTER_SOURCE if name == "Starter" else "LM Studio")
        for name, size in sizes.items()
    ]

    assert [model.name for model in rank_local_models(models, computer(16))] == ["Three", "One", "Seven", "Twelve", "Starter"]


def test_a_faster_download_is_recommended_where_the_large_models_at_hand_are_slow():
    model = RemoteModel(name="Three", repository="a/b", file="three.gguf", size=2 * GB, memory=4 * GB)
    slow = ModelFile(Path("slow.gguf"), "Slow", 7 * GB, "llama")

    assert is_better_than(model, [slow], computer(16))


def test_a_local_model_that_does_not_fit_does_not_count():
    model = RemoteModel(name="Three", repository="a/b", file="three.gguf", size=2 * GB, memory=4 * GB)
    giant = ModelFile(Path("giant.gguf"), "Giant", 40 * GB, "llama")

    assert is_better_than(model, [giant], computer(8))


@pytest.mark.parametrize(("size", "measured"), [(98_362_432, 47.6), (662_650_976, 14.6)])
def test_the_estimate_is_near_what_was_measured(size: int, measured: float):
    """Two models of four bits on two cores that read 16 GB per second, or 35 when no other program ran."""
    for bandwidth in (16.06 * GB, 35 * GB):
        estimate = estimate_speed(size, Hardware(25 * GB, 24 * GB, bandwidth, cores=2))
        assert estimate == pytest.approx(measured, rel=0.2)
