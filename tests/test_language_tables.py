"""The tables of a language are read from its folder."""

from __future__ import annotations

import pytest

from lethe_app import language_tables
from lethe_app.errors import FileError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(language_tables, "FOLDER", tmp_path)
    _clear_caches()
    yield tmp_path
    _clear_caches()


def _clear_caches():
    for function in vars(language_tables).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


def write(folder, language: str, name: str, text: str) -> None:
    (folder / language).mkdir(exist_ok=True)
    (folder / language / name).write_text(text, encoding="utf-8")


def test_a_new_language_is_a_folder(folder):
    write(folder, "de", "months.toml", 'names = ["Januar", "Februar"]')
    write(folder, "en", "months.toml", 'names = ["January"]')
    assert language_tables.languages_with("months.toml") == ("de", "en")
    assert language_tables.load_table("months", "de")["names"] == ["Januar", "Februar"]


def test_a_missing_table_is_empty(folder):
    assert language_tables.load_table("months", "fr") == {}
    assert language_tables.load_words("kin", "fr") == frozenset()
    assert not language_tables.compile_table("months", "names", "fr").search("Januar")


def test_words_stand_in_lines_and_between_commas(folder):
    write(folder, "en", "kin.txt", "# relatives\nmother, mum\ngreat aunt  # two words\n\n")
    assert language_tables.load_words("kin") == {"mother", "mum", "great aunt"}


def test_a_compiled_key_finds_whole_words_and_the_longest_entry(folder):
    write(folder, "en", "hedges.toml", 'doubt = ["not", "not sure", "may(?:be| be)"]')
    pattern = language_tables.compile_table("hedges", "doubt")
    assert pattern.findall("Maybe, may be; I am not sure of a knot.") == ["Maybe", "may be", "not sure"]


def test_an_unreadable_table_is_named(folder):
    write(folder, "en", "months.toml", "names = [")
    with pytest.raises(FileError, match=r"months\.toml"):
        language_tables.load_table("months")


def test_an_entry_is_composed_of_alternatives_and_classes(folder):
    write(folder, "en", "word_classes.toml", "PET = ['dogs?', 'cats?']\nKIN = { mother = ['mum'], father = ['dad'] }")
    write(folder, "en", "facts.toml", "owner = { before = '(?:my|our) ', any = ['<PET>', '<KIN>'], after = '!' }")
    pattern = language_tables.table_pattern("facts", "owner")
    assert [found[0] for found in pattern.finditer("My dogs! our cat! my mum! my dad")] == ["My dogs!", "our cat!", "my mum!"]


def test_a_lazy_set_is_read_at_its_first_use(folder):
    words = language_tables.lazy_words("kin")
    write(folder, "en", "kin.txt", "mother, father")
    assert "mother" in words
    assert words | {"aunt"} == {"mother", "father", "aunt"}
    assert {"aunt", "mother"} - words == {"aunt"}
    assert words.issuperset(["mother"])
