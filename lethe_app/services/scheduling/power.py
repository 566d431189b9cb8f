"""Power source of the computer."""

from __future__ import annotations

import psutil


def is_on_battery() -> bool:
    """Return whether the computer runs on its battery; False if it has none or the system does not report it."""
    sensor = getattr(psutil, "sensors_battery", None)  # some systems have none
    try:
        battery = sensor() if sensor is not None else None
    except (OSError, RuntimeError, ValueError):
        return False
    return battery is not None and battery.power_plugged is False
