"""Words typed by users find titles first, then synonyms, parts of words, descriptions, and at last what is misspelled."""

from __future__ import annotations

import pytest

from lethe_app.config.settings import Settings
from lethe_app.ui.core.actions import ACTION_SPECS
from lethe_app.ui.core.search_terms import action_search_text, load_terms
from lethe_app.ui.core.word_search import SearchText, is_description_match, rank_items

ITEMS = [
    ("reply", SearchText("Max response tokens", "max tokens, response length", "Maximum length of a reply in tokens.")),
    ("lore", SearchText("Worlds (lorebooks)", "world info, author's note")),
    ("gpu", SearchText("GPU layers", "vram, offload", "Layers to offload to the GPU; worlds apart.")),
    ("world", SearchText("Global worlds", "lorebook", "Worlds that are active in every conversation.")),
]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["reply", "lore", "gpu", "world"]),
        ("Global Worlds", ["world"]),
        ("max tokens", ["reply"]),
        ("MAX  resp", ["reply"]),
        ("worlds", ["lore", "world", "gpu"]),
        ("lorebook", ["world", "lore"]),
        ("authors note", ["lore"]),
        ("author's note", ["lore"]),
        ("book", ["lore", "world"]),
        ("off", ["gpu"]),
        ("response offload", ["gpu", "reply"]),
        ("the reply's length", ["reply"]),
        ("vram and worlds", ["gpu"]),
        ("where are my worlds", ["lore", "world", "gpu"]),
        ("worlds xylophone vram", ["gpu", "lore", "world"]),
        ("lorbook", ["world", "lore"]),
        ("vrma", []),
        ("zzzz", []),
    ],
)
def test_the_best_match_comes_first(query: str, found: list[str]):
    assert rank_items(ITEMS, query) == found


def test_a_match_in_the_description_is_told_apart():
    texts = dict(ITEMS)

    assert is_description_match(texts["gpu"], "worlds")
    assert not is_description_match(texts["world"], "worlds")


def test_synonyms_are_given_for_what_exists():
    assert set(load_terms("settings")) == set(Settings.visible_names())
    named = {spec.name for spec in ACTION_SPECS}
    assert set(load_terms("actions")) <= named
    assert named - set(load_terms("actions")) == {"next_pane", "focus_sidebar", "focus_chat"}


@pytest.mark.parametrize(
    ("title", "action"),
    [("Scan depth", "worlds"), ("Stop sequences", "presets"), ("Example dialogue", "persona_editor"), ("Keywords", "memories")],
)
def test_a_page_is_found_by_the_titles_of_its_fields(qapp, title: str, action: str):
    names = [spec.name for spec in ACTION_SPECS]

    assert action in rank_items([(name, action_search_text(name)) for name in names], title)
