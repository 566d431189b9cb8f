"""The hardware as it is measured on whatever computer the tests run on."""

from __future__ import annotations

from pathlib import Path

import psutil

from lethe_app.services.models.hardware import _amd_memory, measure_hardware


def test_memory_and_bandwidth_of_this_computer_are_measured():
    hardware = measure_hardware()

    assert 0 < hardware.free_memory <= hardware.memory <= psutil.virtual_memory().total
    assert hardware.bandwidth > 100e6
    assert hardware.cores >= 1
    assert f"{hardware.cores} cores" in hardware.computer


def test_the_bandwidth_is_measured_once():
    assert measure_hardware().bandwidth == measure_hardware().bandwidth


def test_an_engine_without_support_for_graphics_cards_has_no_use_for_their_memory():
    assert measure_hardware().gpu_memory == 0  # the engine that the set-up builds runs on the processor


def test_the_linux_driver_states_the_memory_of_amd_cards(tmp_path: Path):
    for card, text in (("card0", "8573157376\n"), ("card1", "unknown\n")):
        device = tmp_path / card / "device"
        device.mkdir(parents=True)
        (device / "mem_info_vram_total").write_text(text, encoding="ascii")

    assert _amd_memory(tmp_path) == [8573157376]
