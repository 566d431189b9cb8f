"""What is so until the user changes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.services.prompting.assembler import share_after_cut

Says = Callable[..., object]


@pytest.mark.parametrize(("surgery", "can_shift", "kept"), [(True, True, 0.65), (True, False, 0.4), (False, True, 0.4)])
async def test_a_cut_keeps_less_where_all_that_is_kept_has_to_be_read_again(
    services: AppServices, says: Says, surgery: bool, can_shift: bool, kept: float
):
    await says("Yes.")
    await services.preferences.set(cache_surgery=surgery)
    state = services.models.state

    assert share_after_cut(services.preferences.current, replace(state.model, can_shift=can_shift)) == kept
