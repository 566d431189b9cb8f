"""Files of a collection are found, never overwritten by another one, and restored from the trash."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import SamplerPreset
from lethe_app.errors import FileError, ReadOnly, StorageError
from lethe_app.storage.files.collection import FileCollection
from lethe_app.storage.files.file_names import MAX_STEM_BYTES, is_plain_name, unique_stem


@pytest.fixture
def shipped_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "shipped"
    folder.mkdir()
    (folder / "mara.json").write_text('{"name": "Mara", "bio": "ours"}')
    (folder / "zoe.json").write_text('{"name": "Zoe"}')
    return folder


@pytest.fixture
def own_folder(tmp_path: Path) -> Path:
    return tmp_path / "own"


@pytest.fixture
def collection(shipped_folder: Path, own_folder: Path, tmp_path: Path) -> FileCollection[Persona]:
    return FileCollection(Persona, shipped_folder, own_folder, tmp_path / "trash" / "personas")


def write_file(folder: Path, name: str, content: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(content, encoding="utf-8")
    return folder / name


def test_without_a_user_folder_there_are_the_shipped_files(collection: FileCollection[Persona]):
    stock = collection.load_all()

    assert [persona.unique_name for persona in stock.values.values()] == ["mara", "zoe"]
    assert stock.errors == []


def test_the_users_file_of_the_same_name_wins(collection: FileCollection[Persona], own_folder: Path):
    write_file(own_folder, "mara.json", '{"name": "Mara", "bio": "mine"}')

    assert collection.load_all().values["mara"].bio == "mine"
    assert collection.get("mara").bio == "mine"
    assert collection.is_own("mara")
    assert not collection.is_own("zoe")


def test_values_are_sorted_by_name(collection: FileCollection[Persona], own_folder: Path):
    write_file(own_folder, "a.json", '{"name": "ömer"}')
    write_file(own_folder, "b.json", '{"name": "anna"}')

    assert [persona.name for persona in collection.load_all().values.values()] == ["anna", "Mara", "Zoe", "ömer"]


def test_broken_files_are_collected_and_the_rest_is_there(collection: FileCollection[Persona], own_folder: Path):
    write_file(own_folder, "broken.json", "{")
    write_file(own_folder, "empty.json", "{}")
    write_file(own_folder, "good.json", '{"name": "Good"}')
    write_file(own_folder, "notes.txt", "not ours")
    write_file(own_folder, ".hidden.json", "not ours")

    stock = collection.load_all()

    assert set(stock.values) == {"mara", "zoe", "good"}
    assert [problem.path.name for problem in stock.errors] == ["broken.json", "empty.json"]
    assert stock.errors[1].field == "name"


def test_the_shipped_file_replaces_a_broken_one_of_the_user(collection: FileCollection[Persona], own_folder: Path):
    write_file(own_folder, "mara.json", "{")

    stock = collection.load_all()

    assert stock.values["mara"].bio == "ours"
    assert collection.get("mara").bio == "ours"
    assert len(stock.errors) == 1


def test_a_file_in_the_place_of_the_folder_is_a_problem_and_not_a_failure(
    collection: FileCollection[Persona], own_folder: Path
):
    own_folder.write_text("in the way")

    stock = collection.load_all()

    assert set(stock.values) == {"mara", "zoe"}
    assert [problem.path for problem in stock.errors] == [own_folder]
    with pytest.raises(StorageError):
        collection.save(Persona(name="New"))


def test_a_missing_value_raises_an_error(collection: FileCollection[Persona]):
    with pytest.raises(FileError, match="does not exist"):
        collection.get("nobody")


@pytest.mark.parametrize("stem", ["../settings", "..", "", "a/b", "a\\b", "/etc/passwd", "C:x", "a\0b", ".hidden"])
def test_no_name_leads_out_of_the_folder(collection: FileCollection[Persona], tmp_path: Path, stem: str):
    write_file(tmp_path, "settings.json", '{"name": "secret"}')

    with pytest.raises(FileError):
        collection.get(stem)
    with pytest.raises(FileError):
        collection.delete(stem)
    if stem:
        with pytest.raises(FileError):
            collection.save(Persona(name="x"), stem)
    assert not collection.is_own(stem)
    assert json.loads((tmp_path / "settings.json").read_text()) == {"name": "secret"}


def test_a_new_value_gets_a_name_that_no_other_has(collection: FileCollection[Persona], own_folder: Path):
    write_file(own_folder, "zoe-2.json", "broken, but the user's")

    assert collection.save(Persona(name="Zoe")) == "zoe-3"
    assert collection.save(Persona(name="Zoë Müller")) == "zoë-müller"
    assert collection.save(Persona(name="ZOE")) == "zoe-4"
    assert (own_folder / "zoe-2.json").read_text() == "broken, but the user's"
    assert collection.get("zoë-müller").name == "Zoë Müller"


def test_saving_replaces_the_users_file_and_never_a_shipped_one(
    collection: FileCollection[Persona], shipped_folder: Path, own_folder: Path
):
    mara = collection.get("mara").model_copy(update={"bio": "changed"})

    assert collection.save(mara) == "mara"
    assert collection.save(mara.model_copy(update={"bio": "again"})) == "mara"

    assert collection.get("mara").bio == "again"
    assert json.loads((shipped_folder / "mara.json").read_text())["bio"] == "ours"
    assert [path.name for path in own_folder.iterdir()] == ["mara.json"]


def test_an_unreadable_file_is_moved_to_the_trash_before_it_is_replaced(
    collection: FileCollection[Persona], own_folder: Path, tmp_path: Path
):
    write_file(own_folder, "mara.json", "years of work, and one wrong comma")

    collection.save(collection.get("mara"))

    (kept,) = (tmp_path / "trash" / "personas").iterdir()
    assert kept.read_text() == "years of work, and one wrong comma"


def test_a_deleted_file_can_be_restored_from_the_trash(collection: FileCollection[Persona], own_folder: Path, tmp_path: Path):
    collection.save(Persona(name="Ada", bio="x"))

    trashed = collection.delete("ada")

    assert trashed.parent == tmp_path / "trash" / "personas"
    assert "ada" not in collection.load_all().values
    assert collection.restore(trashed) == "ada"
    assert collection.get("ada").bio == "x"


def test_a_restored_file_replaces_no_other(collection: FileCollection[Persona]):
    collection.save(Persona(name="Ada", bio="first"))
    trashed = collection.delete("ada")
    collection.save(Persona(name="Ada", bio="second"), "ada")

    assert collection.restore(trashed) == "ada-2"
    assert (collection.get("ada").bio, collection.get("ada-2").bio) == ("second", "first")


def test_deleting_the_users_file_shows_the_shipped_one_again(collection: FileCollection[Persona]):
    collection.save(collection.get("mara").model_copy(update={"bio": "mine"}))

    trashed = collection.delete("mara")

    assert collection.get("mara").bio == "ours"
    assert collection.restore(trashed) == "mara"
    assert collection.get("mara").bio == "mine"


def test_a_shipped_file_cannot_be_deleted(collection: FileCollection[Persona], shipped_folder: Path):
    with pytest.raises(ReadOnly, match="comes with Lethe"):
        collection.delete("mara")
    with pytest.raises(FileError, match="does not exist"):
        collection.delete("nobody")
    assert (shipped_folder / "mara.json").exists()


def test_presets_without_a_name_of_their_own_are_kept_by_file_name(tmp_path: Path):
    collection = FileCollection(SamplerPreset, tmp_path / "shipped", tmp_path / "own", tmp_path / "trash")

    stem = collection.save(SamplerPreset(name="Warm & wild", temperature=1.2))

    assert stem == "warm-wild"
    assert collection.save(SamplerPreset(name="Warm & wild", temperature=1.3), stem) == stem
    assert collection.load_all().values == {stem: SamplerPreset(name="Warm & wild", temperature=1.3)}
    assert collection.picture_path(collection.get(stem)) is None


def test_a_picture_is_found_beside_the_file(collection: FileCollection[Persona], shipped_folder: Path, own_folder: Path):
    write_file(shipped_folder, "mara.png", "ours")

    assert collection.picture_path(Persona(name="Mara", avatar="mara.png")) == shipped_folder / "mara.png"
    write_file(own_folder, "mara.png", "mine")
    assert collection.picture_path(Persona(name="Mara", avatar="mara.png")) == own_folder / "mara.png"
    assert collection.picture_path(Persona(name="Mara")) is None
    assert collection.picture_path(Persona(name="Mara", avatar="gone.png")) is None


@pytest.mark.parametrize(
    "avatar", ["../secret.png", "/etc/passwd", "..", ".", "sub/../../secret.png", "..\\secret.png", "a\0b"]
)
def test_a_picture_outside_the_folder_is_never_returned(
    collection: FileCollection[Persona], tmp_path: Path, own_folder: Path, avatar: str
):
    write_file(tmp_path, "secret.png", "private")
    own_folder.mkdir()

    assert collection.picture_path(Persona(name="Mara", avatar=avatar)) is None


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_to_the_outside_is_no_picture(collection: FileCollection[Persona], tmp_path: Path, own_folder: Path):
    write_file(tmp_path, "secret.png", "private")
    own_folder.mkdir()
    (own_folder / "link.png").symlink_to(tmp_path / "secret.png")

    assert collection.picture_path(Persona(name="Mara", avatar="link.png")) is None


def test_a_saved_picture_replaces_no_other(collection: FileCollection[Persona], own_folder: Path):
    first = collection.save_picture("mara", b"one", ".png")
    second = collection.save_picture("mara", b"two", ".png")

    assert first != second
    assert (own_folder / first).read_bytes() == b"one"
    assert collection.picture_path(Persona(name="Mara", avatar=second)) == own_folder / second
    with pytest.raises(FileError):
        collection.save_picture("mara", b"x", "/../../x.png")


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("Mara Venn", "mara-venn"),
        ("  ../../etc/passwd  ", "etc-passwd"),
        ("CON", "con-file"),
        ("com1", "com1-file"),
        ("Aux.", "aux-file"),
        ("Zoë", "zoë"),
        ("Zoe\u0308", "zoë"),
        ("日本 語", "日本-語"),
        ("हिन्दी", "हिन्दी"),
        ("🌊🌊", "unnamed"),
        ("...", "unnamed"),
        ("a:b*c?d", "a-b-c-d"),
        ("line\nbreak\0", "line-break"),
    ],
)
def test_a_name_becomes_a_safe_file_name(name: str, stem: str):
    assert unique_stem(name, []) == stem


def test_names_that_some_systems_treat_as_equal_are_distinguished():
    assert unique_stem("Zoe\u0308", ["Zoë"]) == "zoë-2"
    assert unique_stem("mara", ["MARA", "mara-2"]) == "mara-3"


@given(name=st.text(), taken=st.lists(st.text(max_size=3)))
def test_any_name_becomes_one_that_every_system_accepts(name: str, taken: list[str]):
    stem = unique_stem(name, taken)

    assert is_plain_name(stem)
    assert len(os.fsencode(stem)) <= MAX_STEM_BYTES + 20
    assert not set(stem) & set('<>:"/\\|?*. ')
    assert stem.casefold() not in [other.casefold() for other in taken]
    assert unique_stem(stem, []) == stem


def test_a_collection_that_keeps_values_reads_a_file_again_only_when_it_changed(
    shipped_folder: Path, own_folder: Path, tmp_path: Path
):
    collection = FileCollection(Persona, shipped_folder, own_folder, tmp_path / "trash", caches_values=True)
    before = collection.load_all().values["mara"]
    assert collection.load_all().values["mara"] is before
    write_file(own_folder, "mara.json", '{"name": "Mara", "bio": "theirs"}')
    assert collection.load_all().values["mara"].bio == "theirs"
    write_file(own_folder, "mara.json", '{"name": "Mara", "bio": "theirs, longer"}')
    assert collection.load_all().values["mara"].bio == "theirs, longer"
    (own_folder / "mara.json").unlink()
    assert collection.load_all().values["mara"] is before


def test_a_value_whose_file_cannot_be_examined_is_not_cached(
    shipped_folder: Path, own_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    collection = FileCollection(Persona, shipped_folder, own_folder, tmp_path / "trash", caches_values=True)
    monkeypatch.setattr("lethe_app.storage.files.collection.file_stamp", lambda _path: None)
    collection.save(Persona(name="Mara", bio="mine"), "mara")
    write_file(own_folder, "mara.json", '{"name": "Mara", "bio": "theirs"}')

    assert collection.load_all().values["mara"].bio == "theirs"
    write_file(own_folder, "mara.json", "broken")
    collection.save(Persona(name="Mara", bio="mine"), "mara")
    assert len(list((tmp_path / "trash").iterdir())) == 1, "nothing unreadable is taken for a file that was read before"
