"""Lorebooks of other programs become worlds, and worlds return to them with everything nobody edited."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lethe_app.domain.chat import Role
from lethe_app.domain.import_notes import ImportNotes, NoteKind
from lethe_app.domain.memory import WordLink
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.errors import FileError
from lethe_app.interchange.external_file import read_external_file
from lethe_app.interchange.lorebooks.lorebook import read_lorebook, write_character_book, write_world_info
from tests.interchange.external_files import book_entry, lost, world_info


def read(values: object, notes: ImportNotes | None = None) -> World:
    return read_lorebook(values, "Book", notes or ImportNotes())


def only_entry(values: object) -> WorldEntry:
    (entry,) = read(values).entries
    return entry


def test_every_field_of_an_entry_has_its_place():
    entry = only_entry({"entries": [book_entry()]})

    assert (entry.name, entry.content, entry.enabled, entry.sticky) == ("The lamp", "The lamp burns whale oil.", True, False)
    assert (entry.keywords_main, entry.keywords_secondary, entry.word_link) == (
        ["lamp", "/light(house)?/i"],
        ["oil"],
        WordLink.AND_ALL,
    )
    assert (entry.position_index, entry.role, entry.order, entry.trigger_chance) == (2, Role.ASSISTANT, 120, 0.6)
    assert (entry.scan_depth, entry.case_sensitive, entry.whole_word, entry.do_embeds) == (2, True, True, True)
    assert (entry.duration, entry.cooldown, entry.delay) == (2, 2, 5)
    assert (entry.exclude_recursion, entry.prevent_recursion, entry.delay_until_recursion) == (True, True, 1)
    assert (entry.groups, entry.group_override, entry.group_weight, entry.group_scoring) == (["light", "fire"], True, 40, None)
    assert entry.ignore_budget


@pytest.mark.parametrize(
    ("number", "link"), [(0, WordLink.AND), (1, WordLink.NOT_ALL), (2, WordLink.NOT), (3, WordLink.AND_ALL)]
)
def test_selective_logic_is_taken_over_by_its_number(number: int, link: WordLink):
    entry = only_entry({"entries": {"0": {"key": ["a"], "keysecondary": ["b"], "selectiveLogic": number}}})

    assert (entry.word_link, entry.keywords_secondary) == (link, ["b"])


def test_secondary_keys_count_only_for_a_selective_entry():
    values = {"entries": {"0": {"key": ["a"], "keysecondary": ["b"], "selective": False}}}

    assert only_entry(values).keywords_secondary == []
    assert lost(values, write_world_info(read(values))) == []


@pytest.mark.parametrize(("sticky", "turns"), [(None, 1), (0, 1), (1, 1), (2, 1), (3, 2), (4, 2), (5, 3)])
def test_messages_of_stickiness_are_turns_of_two(sticky: int | None, turns: int):
    values = {"entries": {"0": {"key": ["a"], "sticky": sticky}}}

    assert only_entry(values).duration == turns
    assert write_world_info(read(values))["entries"]["0"]["sticky"] == sticky


@pytest.mark.parametrize("group", [" light,fire ,", ["light", "fire"], ["light,fire"], ["", " light", "\nfire\n"]])
def test_groups_are_the_names_between_commas(group: object):
    values = {"entries": {"0": {"key": ["a"], "group": group}}}

    assert only_entry(values).groups == ["light", "fire"]
    assert lost(values, write_world_info(read(values))) == []


def test_what_has_no_effect_is_kept_and_said_once():
    notes = ImportNotes()
    values = world_info()

    world = read(values, notes)

    assert [(note.kind, note.location) for note in notes.notes] == [
        (NoteKind.NO_EFFECT, "characterFilter"),
        (NoteKind.NO_EFFECT, "matchCharacterDescription"),
    ]
    assert lost(values, write_world_info(world)) == []


def test_a_world_info_file_survives_the_way_through_a_card_and_back():
    values = world_info()

    book = write_character_book(read(values))
    back = write_world_info(read({"spec": "lorebook_v3", "data": book}))

    assert lost(values, back) == []


def test_the_book_of_a_card_survives_the_way_through_world_info_and_back():
    book = {"name": "B", "description": "d", "scan_depth": 0, "token_budget": 300, "recursive_scanning": True}
    book |= {"extensions": {"mine": 1}, "entries": [book_entry(), book_entry(id="x", enabled=False, position="before_char")]}

    back = write_character_book(read(write_world_info(read(book))))

    assert lost(book, back) == []


def test_an_edited_entry_keeps_what_nobody_edited():
    book = {"name": "B", "entries": [book_entry(), book_entry(id=9)]}
    world = read(book)
    first = world.entries[0].model_copy(update={"content": "Electric now.", "keywords_main": ["bulb"], "duration": 1})

    back = write_character_book(world.model_copy(update={"entries": [first, world.entries[1]]}))

    assert {one.partition(":")[0] for one in lost(book, back)} == {
        ".entries[0].content",
        ".entries[0].keys",
        ".entries[0].use_regex",  # it says that of the keys
        ".entries[0].extensions.sticky",
    }


def test_patterns_of_v3_are_patterns_and_those_of_silly_tavern_are_plain_words():
    v3 = {"keys": ["li.ht"], "content": "c", "use_regex": True, "secondary_keys": ["x"], "constant": True, "extensions": {}}
    book = {"entries": [v3, book_entry(keys=["li.ht"])]}

    world = read(book)

    assert [entry.keywords_main for entry in world.entries] == [["/li.ht/"], ["li.ht"]]
    assert (world.entries[0].keywords_secondary, world.entries[0].sticky) == ([], False)
    assert lost(book, write_character_book(world)) == []


OTHERS = {
    "agnai": {
        "kind": "memory",
        "name": "B",
        "entries": [{"name": "n", "entry": "c", "keywords": ["a*"], "weight": 7, "priority": 3}],
    },
    "risuai": {
        "type": "risu",
        "ver": 1,
        "data": [
            {
                "key": "a, b",
                "secondkey": "s",
                "comment": "n",
                "content": "c",
                "selective": True,
                "insertorder": 7,
                "activationPercent": 50,
            }
        ],
    },
    "novelai": {
        "lorebookVersion": 5,
        "entries": [
            {"text": "c", "keys": ["a"], "displayName": "n", "forceActivation": True, "contextConfig": {"budgetPriority": 7}}
        ],
    },
    "kobold": [{"key": "a,b", "keysecondary": "", "keyanti": "s", "content": "c", "comment": "n"}],
    "ai dungeon": [{"keys": "a, b", "value": "c"}],
    "lethe": {
        "Name": "B",
        "ScanDepth": 3,
        "Entries": [
            {
                "Name": "n",
                "Content": "c",
                "KeyWordsMain": ["a"],
                "KeyWordsSecondary": ["s"],
                "WordLink": "Or",
                "Duration": 3,
                "PositionIndex": 2,
                "TriggerChance": 0.5,
            }
        ],
    },
}


@pytest.mark.parametrize("program", OTHERS)
def test_books_of_other_programs_are_read(program: str):
    world = read(OTHERS[program])
    (entry,) = world.entries

    assert entry.content == "c"
    expected = {
        "agnai": (["/\\ba\\w*\\b/i"], 7, 3),
        "risuai": (["a", "b"], 7, 1),
        "novelai": (["a"], 7, 1),
        "kobold": (["a", "b"], 100, 1),
        "ai dungeon": (["a", "b"], 100, 1),
        "lethe": (["a", "s"], 100, 1),
    }
    assert (entry.keywords_main, entry.order, entry.priority) == expected[program]
    if program == "lethe":
        assert (world.scan_depth, entry.duration, entry.position_index, entry.trigger_chance) == (3, 3, 2, 0.5)
    if program == "risuai":
        assert (entry.keywords_secondary, entry.trigger_chance) == (["s"], 0.5)
    if program == "kobold":
        assert (entry.keywords_secondary, entry.word_link) == (["s"], WordLink.NOT)
    assert entry.sticky == (program == "novelai")


def test_entries_that_are_none_are_left_out_with_a_note():
    notes = ImportNotes()

    world = read({"entries": {"0": {"key": "a, b", "content": 5}, "1": "text", "2": None}}, notes)

    assert [(entry.keywords_main, entry.content) for entry in world.entries] == [(["a", "b"], "5")]
    assert [note.location for note in notes.notes if note.kind is NoteKind.SKIPPED] == ["entries[1]", "entries[2]"]


@pytest.mark.parametrize("values", [{}, [], [1], "text", {"name": "x"}, {"entries": 5}])
def test_what_is_no_book_is_refused(values: object):
    with pytest.raises(FileError, match="not a lorebook"):
        read(values)


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | texts, lambda inner: st.lists(inner, max_size=3), max_leaves=4
)
FIELDS = [*world_info()["entries"]["7"], "unknown"]  # type: ignore[index]


@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), values, max_size=6), min_size=1, max_size=3))  # type: ignore[misc]
@example([{"group": [["", "0"]]}])
def test_whatever_entries_hold_returns(entries: list[dict[str, object]]):
    # Without one of their own the number in the object is the id.
    book = {"entries": {str(number): {"key": ["k"], **entry, "uid": number} for number, entry in enumerate(entries)}}

    assert lost(book, write_world_info(read(book))) == []


@given(
    st.lists(
        st.dictionaries(st.sampled_from([*book_entry(), "priority", "name", "unknown"]), values, max_size=6),
        min_size=1,
        max_size=3,
    )
)  # type: ignore[misc]
@example([{"keys": ["0 "], "secondary_keys": None, "extensions": None}])
@example([{}, {"keys": None, "constant": True, "extensions": None}])
def test_whatever_a_cards_book_holds_returns(entries: list[dict[str, object]]):
    book = {"entries": [{"keys": ["k"], "insertion_order": 1, **entry} for entry in entries]}

    assert lost(book, write_character_book(read(book))) == []


@pytest.mark.parametrize(
    "values",
    [
        {"name": "B", "description": "About.", "entries": {"0": {"uid": 0, "key": ["a"], "content": "A."}}},
        {"name": "B", "description": "About.", "entries": [{"keys": ["a"], "content": "A.", "insertion_order": 1}]},
        {"kind": "memory", "name": "B", "description": "About.", "entries": [{"name": "a", "keywords": ["a"], "entry": "A."}]},
        {"spec": "lorebook_v3", "data": {"name": "B", "description": "About.", "entries": [{"keys": ["a"], "content": "A."}]}},
    ],
)
def test_a_book_with_a_description_is_no_character(values: dict[str, object]):
    content = read_external_file(json.dumps(values).encode(), "b.json")

    assert content.cards == ()
    (world,) = content.worlds
    assert [(entry.keywords_main, entry.content) for entry in world.entries] == [(["a"], "A.")]


def test_an_outlet_without_a_name_is_in_no_prompt_and_returns():
    values = {"entries": {"0": {"uid": 0, "key": ["a"], "content": "A.", "position": 7, "outletName": "", "disable": False}}}
    notes = ImportNotes()

    world = read_lorebook(values, "B", notes)

    assert not world.entries[0].enabled
    assert [note.location for note in notes.notes] == ["position"]
    assert lost(values, write_world_info(world)) == []


@pytest.mark.parametrize(
    ("chosen", "is_noted"),
    [
        ({"isExclude": False, "names": [], "tags": []}, False),
        ({"isExclude": True, "names": []}, False),
        ({}, False),
        (None, False),
        ({"isExclude": False, "names": [], "tags": ["x"]}, True),
        ({"isExclude": True, "names": ["Vera"]}, True),
    ],
)
def test_an_empty_filter_of_characters_is_no_remark(chosen: object, is_noted: bool):
    notes = ImportNotes()

    read_lorebook({"entries": {"0": {"key": ["a"], "content": "A.", "characterFilter": chosen}}}, "B", notes)

    assert [note.location for note in notes.notes] == ["characterFilter"] * is_noted


def test_an_outlet_is_named_and_returns():
    values = {"entries": {"0": {"uid": 0, "key": ["a"], "content": "A.", "position": 7, "outletName": "x", "disable": False}}}
    notes = ImportNotes()

    world = read_lorebook(values, "B", notes)

    assert (world.entries[0].enabled, world.entries[0].outlet, notes.notes) == (True, "x", [])
    assert lost(values, write_world_info(world)) == []


BARE_ENTRY = {"key": ["vet"], "content": "The vet is closed."}
BARE_BOOK_ENTRY = {"keys": ["vet"], "content": "The vet is closed."}
LENIENT = {"world_info_match_whole_words": False, "world_info_case_sensitive": True, "world_info_recursive": False}


@pytest.mark.parametrize("flags", [{}, {"matchWholeWords": None, "caseSensitive": None}])
@pytest.mark.parametrize("settings", [{}, {"world_info_match_whole_words": None, "world_info_depth": 2}])
def test_what_a_world_leaves_open_is_as_silly_tavern_ships(flags: dict[str, object], settings: dict[str, object]):
    values = {"entries": {"0": {**BARE_ENTRY, **flags}}}
    world = read_lorebook(values, "Book", ImportNotes(), settings)

    assert (world.entries[0].whole_word, world.entries[0].case_sensitive) == (True, False)
    assert (world.recursive, world.scan_depth) == (True, 1)
    assert lost(values, write_world_info(world)) == []


@pytest.mark.parametrize("extensions", [{}, {"match_whole_words": None, "case_sensitive": None}])
def test_what_a_book_of_a_card_leaves_open_is_as_silly_tavern_ships(extensions: dict[str, object]):
    world = read({"entries": [{**BARE_BOOK_ENTRY, "extensions": extensions}]})

    assert (world.entries[0].whole_word, world.recursive) == (True, True)


def test_global_settings_fill_what_is_open_and_nothing_else():
    settings = {**LENIENT, "world_info_depth": 6, "world_info_use_group_scoring": True}
    open_entry, own = BARE_ENTRY, {**BARE_ENTRY, "matchWholeWords": True, "caseSensitive": False, "useGroupScoring": False}
    world = read_lorebook({"entries": {"0": open_entry, "1": own}}, "Book", ImportNotes(), settings)

    first, second = world.entries
    assert (first.whole_word, first.case_sensitive, first.group_scoring) == (False, True, True)
    assert (second.whole_word, second.case_sensitive, second.group_scoring) == (True, False, False)
    assert (world.recursive, world.scan_depth) == (False, 5)
    written = write_world_info(world)
    assert (written["entries"]["0"]["matchWholeWords"], written["recursive_scanning"]) == (False, False)


@pytest.mark.parametrize("kind", ["agnai", "risuai"])
def test_the_settings_of_one_program_mean_nothing_to_another(kind: str):
    world = read_lorebook(
        OTHERS[kind], "Book", ImportNotes(), {"world_info_recursive": True, "world_info_case_sensitive": True}
    )

    assert (world.entries[0].whole_word, world.entries[0].case_sensitive, world.recursive) == (False, False, False)


FOREIGN = {"id": 1, "title": "The lamp", "body": "It burns oil.", "tags": ["lamp"]}


@pytest.mark.parametrize("entries", [[FOREIGN], {"0": FOREIGN, "1": FOREIGN}])
def test_a_book_of_unknown_entries_is_no_world(entries: object):
    with pytest.raises(FileError):
        read({"name": "B", "entries": entries})


@pytest.mark.parametrize("kind", ["keys", "key"])
def test_an_unknown_entry_among_known_ones_is_named_and_left_out(kind: str):
    notes = ImportNotes()

    world = read({"entries": [FOREIGN, {kind: ["lamp"], "content": "Oil."}]}, notes)

    assert [entry.content for entry in world.entries] == ["Oil."]
    assert [(note.kind, note.location) for note in notes.notes] == [(NoteKind.SKIPPED, "entries[0]")]


def test_a_book_of_a_card_with_unknown_entries_gives_no_empty_ones():
    card = {"spec": "chara_card_v2", "data": {"name": "Ana", "character_book": {"entries": [FOREIGN, FOREIGN]}}}

    (found,) = read_external_file(json.dumps(card).encode(), "Ana.json").cards

    assert found.world is None
    assert {note.location for note in found.notes} == {"data.character_book.entries[0]", "data.character_book.entries[1]"}
