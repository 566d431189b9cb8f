"""Tells whether the computer runs on its battery."""

from __future__ import annotations

import psutil


def on_battery() -> bool:
    """False where there is no battery, or the system does not say."""
    sensor = getattr(psutil, "sensors_battery", None)  # some systems have none
    try:
        battery = sensor() if sensor is not None else None
    except (OSError, RuntimeError, ValueError):
        return False
    return battery is not None and battery.power_plugged is False
