"""What is so until the user changes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from lethe_app.brain.notebooks.document import Conclusion, Notebook
from lethe_app.brain.notebooks.filing import assign_conclusions
from lethe_app.brain.notebooks.subjects import load_subjects
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.clock import now
from lethe_app.services.prompting.assembler import share_after_cut

Says = Callable[..., object]


def test_a_conclusion_about_another_known_matter_goes_to_the_notebook_of_that_matter(services: AppServices):
    matters = load_subjects([services.paths.resources / "subjects"])
    day = now().date()
    books = [Notebook("cooking", "Cooking"), Notebook("family", "Family")]
    found = [Conclusion("Tomas always cooks the broth himself.", day), Conclusion("Tomas's brother Otto is a nurse.", day)]

    sorted_out = assign_conclusions(found, ["cooking", "cooking"], "cooking", books, matters)

    assert {name: [one.text for one in those] for name, those in sorted_out.by_notebook.items()} == {
        "cooking": [found[0].text],
        "family": [found[1].text],
    }


@pytest.mark.parametrize(("surgery", "can_shift", "kept"), [(True, True, 0.65), (True, False, 0.4), (False, True, 0.4)])
async def test_a_cut_keeps_less_where_all_that_is_kept_has_to_be_read_again(
    services: AppServices, says: Says, surgery: bool, can_shift: bool, kept: float
):
    await says("Yes.")
    await services.preferences.set(cache_surgery=surgery)
    state = services.models.state

    assert share_after_cut(services.preferences.current, replace(state.model, can_shift=can_shift)) == kept
