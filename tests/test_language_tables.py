"""The tables of a language are read from its folder."""

from __future__ import annotations

import pytest

from lethe_app import language_tables
from lethe_app.errors import FileError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(language_tables, "FOLDER", tmp_path)
    for cached in (language_tables.load_table, language_tables.load_words, language_tables.compile_table):
        cached.cache_clear()
    yield tmp_path
    for cached in (language_tables.load_table, language_tables.load_words, language_tables.compile_table):
        cached.cache_clear()


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
