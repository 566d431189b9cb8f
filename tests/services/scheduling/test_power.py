"""Whether the computer runs on its battery, as far as the system says."""

from __future__ import annotations

from types import SimpleNamespace

import psutil
import pytest

from lethe_app.services.models.hardware import is_on_battery


@pytest.mark.parametrize(("plugged", "reported"), [(False, True), (True, False), (None, False)])
def test_only_a_battery_that_is_surely_in_use_counts(monkeypatch: pytest.MonkeyPatch, plugged: bool | None, *, reported: bool):
    monkeypatch.setattr(psutil, "sensors_battery", lambda: SimpleNamespace(power_plugged=plugged), raising=False)

    assert is_on_battery() is reported


def test_a_computer_without_one_is_not_on_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(psutil, "sensors_battery", lambda: None, raising=False)
    without = is_on_battery()
    monkeypatch.delattr(psutil, "sensors_battery")

    assert (without, is_on_battery()) == (False, False)


def test_a_system_that_cannot_say_harms_nobody(monkeypatch: pytest.MonkeyPatch):
    def fail() -> None:
        raise OSError("no such file")

    monkeypatch.setattr(psutil, "sensors_battery", fail, raising=False)

    assert not is_on_battery()
