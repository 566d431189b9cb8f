"""Which model is recommended for which computer."""

from __future__ import annotations

from pathlib import Path

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.model import ModelFile, RemoteModel
from lethe_app.services.models.hardware import Hardware
from lethe_app.services.models.memory_fit import FitLevel
from lethe_app.services.models.recommendation import assess_downloads, estimate_speed, is_better_than

GB = 1_000_000_000
LAPTOP_BANDWIDTH = 30 * GB
"""What two channels of DDR4 really give."""


def computer(memory: float, bandwidth: float = LAPTOP_BANDWIDTH, gpu: float = 0) -> Hardware:
    return Hardware(int(memory * 1.074 * GB), int(memory * 0.6 * GB), bandwidth, int(gpu * GB))


async def recommended(services: AppServices, hardware: Hardware) -> str:
    found = assess_downloads(await services.downloads.list_offers(), hardware)
    return next((one.model.name for one in found if one.is_recommended), "")


@pytest.mark.parametrize(
    ("hardware", "expected"),
    [
        (computer(2), ""),
        (computer(4), "SmolLM2 1.7B Instruct"),
        (computer(8), "Llama 3.2 3B Instruct"),
        (computer(16), "Qwen2.5 7B Instruct"),
        (computer(32, bandwidth=50 * GB), "Mistral Nemo 12B Instruct"),
        (computer(64, bandwidth=100 * GB), "Mistral Small 24B Instruct"),
        (computer(64, bandwidth=5 * GB), "Qwen2.5 1.5B Instruct"),
        (computer(16, gpu=12.5), "Mistral Nemo 12B Instruct"),
        (computer(16, gpu=24), "Mistral Small 24B Instruct"),
    ],
)
async def test_the_largest_model_that_fits_and_is_fast_enough_is_recommended(
    services: AppServices, hardware: Hardware, expected: str
):
    assert await recommended(services, hardware) == expected


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


def test_a_local_model_that_does_not_fit_does_not_count():
    model = RemoteModel(name="Three", repository="a/b", file="three.gguf", size=2 * GB, memory=4 * GB)
    giant = ModelFile(Path("giant.gguf"), "Giant", 40 * GB, "llama")

    assert is_better_than(model, [giant], computer(8))


@pytest.mark.parametrize(("size", "measured"), [(98_362_432, 47.6), (662_650_976, 14.6)])
def test_the_estimate_is_near_what_was_measured(size: int, measured: float):
    """Two models of four bits on two cores that read 16 GB per second."""
    estimate = estimate_speed(size, Hardware(25 * GB, 24 * GB, 16.06 * GB))

    assert estimate == pytest.approx(measured, rel=0.2)
