"""Which presets are in use without having been chosen: the editor would show none as taken, though one always is."""

from __future__ import annotations

from typing import Any

from lethe_app.domain.presets import SamplerPreset, SystemPreset
from lethe_app.house import House
from lethe_app.services.events import Ready
from lethe_app.services.prompting import is_small, suited_sampler, suited_system


def suited(house: House, kind: type[Any]) -> str:
    """The key of the one that suits the model that is loaded; empty for formats, since most models bring their own."""
    state = house.models.state
    if not isinstance(state, Ready):
        return ""
    small = is_small(state.model)
    if kind is SamplerPreset:
        return suited_sampler(small=small)
    return suited_system(small=small) if kind is SystemPreset else ""
