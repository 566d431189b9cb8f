"""JSON files are validated with the name of the field at fault, and written as a whole or not at all."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.config.settings import Settings
from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import SamplerPreset
from lethe_app.domain.worldinfo import World
from lethe_app.errors import DiskFull, FileError, ReadOnly, StorageError
from lethe_app.storage.atomic import write_atomically
from lethe_app.storage.error_translation import translate
from lethe_app.storage.files import json_files
from lethe_app.storage.files.json_files import SettingsFile, read_model, write_model

ROOT = Path(__file__).parents[3]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "mara.json"


@pytest.fixture
def settings_file(tmp_path: Path) -> SettingsFile:
    return SettingsFile(tmp_path / "settings.json", tmp_path / "trash")


def test_a_persona_is_read_as_it_was_written(file: Path):
    persona = Persona(
        unique_name="mara", name="Mara 🗼", bio="Sie sagt:\n„مرحبا“", first_messages=["a", "b"], schedule={"monday": "swim"}
    )

    write_model(file, persona)

    assert read_model(file, Persona) == persona
    assert "unique_name" not in file.read_text(encoding="utf-8")
    assert "مرحبا" in file.read_text(encoding="utf-8")


@given(name=st.text(min_size=1), bio=st.text())
def test_any_text_is_read_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, name: str, bio: str):
    file = tmp_path_factory.getbasetemp() / "any.json"

    write_model(file, Persona(name=name, bio=bio))

    read = read_model(file, Persona)
    assert (read.name, read.bio) == (name, bio)


def test_a_world_is_read_with_its_entries(file: Path):
    world = World(unique_name="mara", name="The coast", entries=[{"name": "Lighthouse", "keywords_main": ["light"]}])

    write_model(file, world)

    assert read_model(file, World) == world


def test_the_file_name_is_the_identity_whatever_the_file_says(file: Path):
    file.write_text('{"name": "Mara", "unique_name": "someone-else"}')

    assert read_model(file, Persona).unique_name == "mara"


def test_a_byte_order_mark_is_accepted(file: Path):
    file.write_bytes(b"\xef\xbb\xbf" + b'{"name": "Mara"}')

    assert read_model(file, Persona).name == "Mara"


def test_a_lone_surrogate_is_replaced_and_a_pair_joined(file: Path):
    file.write_text(r'{"name": "half \ud83d, whole \ud83d\ude00"}')

    assert read_model(file, Persona).name == "half \ufffd, whole 😀"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "not valid JSON"),
        (b'{"name": "Mara",}', "line 1, column 17"),
        (b'{"name": "Mar', "not valid JSON"),
        (b'[{"name": "Mara"}]', "does not contain a JSON object"),
        (b"null", "does not contain a JSON object"),
        (b'{"name": "M\xe4ra"}', "not UTF-8 text (byte 12)"),
        ('{"name": "Mara"}'.encode("utf-16"), "not UTF-8 text"),
        (b'{"name": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"name": ' + b"1" * 5000 + b"}", "not valid JSON"),
        (b"\x00" * 100, "not valid JSON"),
    ],
    ids=["empty", "comma", "cut off", "list", "null", "latin-1", "utf-16", "deep", "long number", "zeroes"],
)
def test_the_error_of_a_file_is_reported_and_the_file_left_as_it_is(file: Path, content: bytes, problem: str):
    file.write_bytes(content)

    with pytest.raises(FileError) as caught:
        read_model(file, Persona)

    assert problem in caught.value.message
    assert str(file) in caught.value.message
    assert file.read_bytes() == content


@pytest.mark.parametrize(
    ("values", "field", "problem"),
    [
        ({}, "name", "is missing"),
        ({"name": ""}, "name", "must not be empty"),
        ({"name": 7}, "name", "must be text, not the number 7"),
        ({"name": None}, "name", "must be text, not null"),
        ({"name": "M", "first_messages": ["a", "b", 3]}, "first_messages[2]", "must be text, not the number 3"),
        ({"name": "M", "first_messages": "a"}, "first_messages", "must be a list, not the text “a”"),
        ({"name": "M", "is_user": "perhaps"}, "is_user", "must be true or false, not the text “perhaps”"),
        ({"name": "M", "self_edit_tokens": -1}, "self_edit_tokens", "must be at least 0"),
        ({"name": "M", "self_edit_tokens": "many"}, "self_edit_tokens", "must be a whole number, not the text “many”"),
        ({"name": "M", "self_edit_tokens": 1.5}, "self_edit_tokens", "must be a whole number, not the number 1.5"),
        ({"name": "M", "schedule": []}, "schedule", "must be an object, not a list"),
        ({"name": "M", "schedule": {"someday": "x"}}, "schedule.someday", "must be 'monday'"),
        ({"name": "M", "colour": "red"}, "colour", "is not a field this version knows"),
    ],
)
def test_the_field_at_fault_is_named_in_plain_words(file: Path, values: object, field: str, problem: str):
    file.write_text(json.dumps(values))

    with pytest.raises(FileError) as caught:
        read_model(file, Persona)

    assert (caught.value.path, caught.value.field) == (file, field)
    assert caught.value.problem.startswith(problem)


def test_a_nested_field_is_named_with_its_path(file: Path):
    file.write_text('{"name": "W", "entries": [{}, {"priority": {}}]}')

    with pytest.raises(FileError) as caught:
        read_model(file, World)

    assert caught.value.field == "entries[1].priority"


@pytest.mark.parametrize(("value", "problem"), [(9.0, "at most 5"), ("warm", "must be a number")])
def test_bounds_are_reported(file: Path, value: object, problem: str):
    file.write_text(json.dumps({"name": "S", "temperature": value}))

    with pytest.raises(FileError, match=problem):
        read_model(file, SamplerPreset)


def test_a_folder_or_a_path_through_a_file_is_reported(file: Path):
    file.mkdir()
    (file / "x").touch()

    for path in (file, file / "x" / "y.json"):
        with pytest.raises(FileError, match="cannot be opened"):
            read_model(path, Persona)


def test_a_huge_file_is_not_even_read(file: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(json_files, "MAX_FILE_BYTES", 1024 * 1024)
    with file.open("wb") as huge:
        huge.truncate(1024 * 1024 + 1)

    with pytest.raises(FileError, match="larger than 1 MB"):
        read_model(file, Persona)


def test_writing_replaces_the_whole_file_and_leaves_no_draft(file: Path):
    write_atomically(file, b"a long first version")
    write_atomically(file, b"second")

    assert file.read_bytes() == b"second"
    assert [left.name for left in file.parent.iterdir()] == [file.name]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions work in another way there")
def test_writing_keeps_permissions_and_follows_a_link(file: Path, tmp_path: Path):
    file.write_text("old")
    file.chmod(0o640)
    link = tmp_path / "link.json"
    link.symlink_to(file)

    write_atomically(link, b"new")

    assert link.is_symlink()
    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


LIMITED = """
import resource, signal, sys
from pathlib import Path
from lethe_app.errors import LetheError
from lethe_app.storage.atomic import write_atomically
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_atomically(Path(sys.argv[1]), b"x" * 5000)
except LetheError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are a thing of Unix")
def test_on_a_full_disk_the_old_file_is_intact(file: Path):
    file.write_text("precious")

    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(file)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=600,
        check=True,
    )

    assert done.stdout.startswith("DiskFull")
    assert str(file) in done.stdout
    assert file.read_text() == "precious"
    assert [left.name for left in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize(
    ("number", "kind"),
    [(errno.ENOSPC, DiskFull), (errno.EACCES, ReadOnly), (errno.EROFS, ReadOnly), (errno.EIO, StorageError)],
)
def test_errors_of_the_system_become_storage_errors(file: Path, number: int, kind: type[StorageError]):
    reported = translate(OSError(number, os.strerror(number)), file)

    assert type(reported) is kind
    assert str(file) in str(reported)


def test_without_a_file_the_settings_are_the_defaults_and_nothing_is_written(settings_file: SettingsFile, tmp_path: Path):
    assert settings_file.load() == Settings()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", ["{", "[]", "", '{"font_size": 18', "\x00\x01"])
def test_a_file_without_settings_is_reported_and_left_as_it_is(settings_file: SettingsFile, tmp_path: Path, content: str):
    (tmp_path / "settings.json").write_text(content)

    with pytest.raises(FileError, match=r"settings\.json"):
        settings_file.load()

    assert (tmp_path / "settings.json").read_text() == content


@pytest.mark.parametrize(
    ("name", "value", "expected", "field"),
    [
        ("font_size", "large", 15, "font_size"),
        ("font_size", None, 15, "font_size"),
        ("font_size", 99, 15, "font_size"),
        ("theme", "pink", "system", "theme"),
        ("theme", {"day": "light"}, "system", "theme"),
        ("welcomed", "perhaps", False, "welcomed"),
        ("advanced_pages", "all", [], "advanced_pages"),
        ("advanced_pages", ["memories", 3, "facts"], ["memories", "facts"], "advanced_pages[1]"),
        ("agent_hours", {"dream": 24, "journal": "often"}, {"dream": 24.0}, "agent_hours.journal"),
        (
            "model_choices",
            {"a.gguf": {"context": 4096, "kv_type": "q2"}},
            {"a.gguf": {"context": 4096}},
            "model_choices.a.gguf.kv_type",
        ),
        ("model_choices", {"a.gguf": [1], "b.gguf": {"threads": 2}}, {"b.gguf": {"threads": 2}}, "model_choices.a.gguf"),
        ("model_choices", {"a.gguf": {"threads": 2, "aura": 1}}, {"a.gguf": {"threads": 2}}, None),
    ],
)
def test_one_bad_value_has_its_default_and_is_written_back(
    settings_file: SettingsFile, tmp_path: Path, name: str, value: object, expected: object, field: str | None
):
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({name: value, "notify": False}))

    settings = settings_file.load()
    settings_file.save(settings.model_copy(update={"reduced_motion": True}))

    assert settings == Settings.model_validate({name: expected, "notify": False})
    assert [problem.field for problem in settings_file.problems] == ([field] if field else [])
    written = json.loads(path.read_text())
    assert (written["notify"], written["reduced_motion"]) == (False, True)
    assert without_none(written[name]) == value
    assert settings_file.load() == settings.model_copy(update={"reduced_motion": True})
    assert not (tmp_path / "trash").exists()


def without_none(value: object) -> object:
    """A stored value without the fields of a record that have no value, but for one that is nothing but that."""
    if isinstance(value, dict):
        return {name: without_none(part) for name, part in value.items() if part is not None}
    return value


def test_a_bad_value_is_replaced_once_another_one_is_chosen(settings_file: SettingsFile, tmp_path: Path):
    path = tmp_path / "settings.json"
    path.write_text('{"theme": "pink", "font_size": "large", "agent_hours": {"dream": "often", "journal": 6}}')

    settings = settings_file.load()
    settings_file.save(settings.model_copy(update={"font_size": 18, "agent_hours": {"dream": 12.0}}))

    written = json.loads(path.read_text())
    assert (written["theme"], written["font_size"], written["agent_hours"]) == ("pink", 18, {"dream": 12.0})
    assert sorted(problem.field for problem in settings_file.problems) == ["agent_hours.dream", "font_size", "theme"]


def test_what_a_newer_version_knows_of_one_record_survives_a_change_of_another(settings_file: SettingsFile, tmp_path: Path):
    path = tmp_path / "settings.json"
    newer = {"a.gguf": {"threads": 2, "aura": {"hue": 3}}, "b.gguf": {"threads": 2, "kv_type": "q2"}, "c.gguf": {"threads": 1}}
    path.write_text(json.dumps({"model_choices": newer}))

    settings = settings_file.load()
    choices = {name: choice for name, choice in settings.model_choices.items() if name != "c.gguf"}
    choices["a.gguf"] = choices["a.gguf"].model_copy(update={"threads": 4})
    settings_file.save(settings.model_copy(update={"model_choices": choices}))

    written = without_none(json.loads(path.read_text())["model_choices"])
    assert written == {"a.gguf": {"threads": 4, "aura": {"hue": 3}}, "b.gguf": {"threads": 2, "kv_type": "q2"}}


def test_settings_of_a_newer_version_are_ignored_and_kept(settings_file: SettingsFile, tmp_path: Path):
    path = tmp_path / "settings.json"
    path.write_text('{"font_size": 20, "telepathy": {"range": 3}}')

    settings = settings_file.load()
    settings_file.save(settings.model_copy(update={"font_size": 21}))

    assert settings.font_size == 20
    written = json.loads(path.read_text())
    assert (written["font_size"], written["telepathy"]) == (21, {"range": 3})


def test_the_old_switch_against_proactive_messages_is_read_as_its_opposite(settings_file: SettingsFile, tmp_path: Path):
    path = tmp_path / "settings.json"
    path.write_text('{"disable_eurekas": true}')

    settings = settings_file.load()
    settings_file.save(settings)

    assert not settings.proactive_messages
    assert "disable_eurekas" not in json.loads(path.read_text())
    assert not settings_file.load().proactive_messages


def test_a_setting_under_its_old_name_is_read_and_written_anew(settings_file: SettingsFile, tmp_path: Path):
    path = tmp_path / "settings.json"
    path.write_text('{"scratch": false}')

    settings = settings_file.load()
    settings_file.save(settings)

    assert not settings.session_notes
    written = json.loads(path.read_text())
    assert (written["session_notes"], "scratch" in written) == (False, False)


def test_broken_settings_are_kept_in_the_trash_before_they_are_replaced(settings_file: SettingsFile, tmp_path: Path):
    path = tmp_path / "settings.json"
    path.write_text('{"font_size": 18')

    settings_file.save(Settings())

    assert settings_file.load() == Settings()
    (kept,) = (tmp_path / "trash").iterdir()
    assert kept.read_text() == '{"font_size": 18'
