"""Notebook files, which the user edits too: nothing is overwritten, and a change of several files is applied as a whole."""

from __future__ import annotations

import os
import sys
from itertools import count
from pathlib import Path

import pytest

from lethe_app.errors import FileError, StorageError
from lethe_app.storage.files.notebooks import NotebookFiles

COOKING = "# Cooking\n\n- Rice (2026-01-01)\n"


@pytest.fixture
def files(tmp_path: Path) -> NotebookFiles:
    return NotebookFiles(tmp_path / "notebooks", tmp_path / "trash")


def there(tmp_path: Path) -> dict[str, str]:
    folder = tmp_path / "notebooks" / "mira"
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.iterdir())}


def trashed(tmp_path: Path) -> list[str]:
    return sorted(path.name.split(".")[0] for path in (tmp_path / "trash").rglob("*.md"))


def test_a_notebook_is_a_readable_file_in_the_folder_of_the_persona(files: NotebookFiles, tmp_path: Path):
    files.write("mira", "cooking", lambda _there: COOKING)

    assert there(tmp_path) == {"cooking.md": COOKING}
    assert files.read_all("mira").texts == {"cooking": COOKING}


def test_a_write_applies_to_what_the_user_wrote_meanwhile(files: NotebookFiles, tmp_path: Path):
    files.write("mira", "cooking", lambda _there: COOKING)
    assert files.read_text("mira", "cooking") == COOKING
    path = tmp_path / "notebooks" / "mira" / "cooking.md"
    path.write_text(COOKING + "- Saffron, by hand\n", encoding="utf-8")

    after = files.write("mira", "cooking", lambda text: text + "- Broth\n")

    assert after == COOKING + "- Saffron, by hand\n- Broth\n"


def test_a_file_with_other_line_ends_keeps_them(files: NotebookFiles, tmp_path: Path):
    path = tmp_path / "notebooks" / "mira" / "cooking.md"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"# Cooking\r\n\r\n- Rice\r\n")

    files.write("mira", "cooking", lambda text: text + "- Broth\n")

    assert path.read_bytes() == b"# Cooking\r\n\r\n- Rice\r\n- Broth\r\n"


def test_an_unreadable_file_is_reported_and_left_as_it_is(files: NotebookFiles, tmp_path: Path):
    path = tmp_path / "notebooks" / "mira" / "cooking.md"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"# Cooking\n\xff\xfe\n")

    with pytest.raises(FileError, match=r"cooking\.md.*UTF-8"):
        files.write("mira", "cooking", lambda _there: "gone")

    assert path.read_bytes() == b"# Cooking\n\xff\xfe\n"
    assert [problem.path.name for problem in files.read_all("mira").errors] == ["cooking.md"]


@pytest.mark.parametrize("name", ["../cooking", ".hidden", "a/b", ""])
def test_no_name_leads_out_of_the_folder_of_the_persona(files: NotebookFiles, name: str):
    with pytest.raises(StorageError):
        files.write("mira", name, lambda _there: "x")
    with pytest.raises(StorageError):
        files.read_all("../mira")


def test_other_files_are_ignored_or_reported(files: NotebookFiles, tmp_path: Path):
    folder = tmp_path / "notebooks" / "mira"
    (folder / "a folder.md").mkdir(parents=True)
    (folder / "a:colon.md").write_text(COOKING, encoding="utf-8")
    (folder / ".hidden.md").write_text(COOKING, encoding="utf-8")
    (folder / ".#cooking.md").symlink_to("somebody@somewhere.1234")  # as an editor leaves it beside what is open in it
    os.mkfifo(folder / "pipe.md")
    (folder / "good.md").write_text(COOKING, encoding="utf-8")

    found = files.read_all("mira")

    assert list(found.texts) == ["good"]
    assert [problem.path.name for problem in found.errors] == ["a folder.md", "a:colon.md", "pipe.md"]


def test_a_file_that_cannot_be_accessed_is_reported_beside_the_others(files: NotebookFiles, tmp_path: Path):
    files.write("mira", "good", lambda _there: COOKING)
    (tmp_path / "notebooks" / "mira" / "bad.md").symlink_to("x" * 300)  # longer than a file name may be

    found = files.read_all("mira")

    assert list(found.texts) == ["good"]
    assert ["cannot be opened" in str(problem) for problem in found.errors] == [True]
    with pytest.raises(FileError, match="cannot be opened"):
        files.write("mira", "bad", lambda _there: COOKING)
    files.delete("mira", "bad")
    assert list(there(tmp_path)) == ["good.md"]


def test_old_ends_of_lines_are_ends_of_lines(files: NotebookFiles, tmp_path: Path):
    (tmp_path / "notebooks" / "mira").mkdir(parents=True)
    (tmp_path / "notebooks" / "mira" / "old.md").write_bytes(COOKING.replace("\n", "\r").encode())

    assert files.read_text("mira", "old") == COOKING


@pytest.mark.parametrize("name", ["v1.2 ideas", "Über uns 🐝", "a.b.c"])
def test_a_file_name_of_the_user_is_restored_whole(files: NotebookFiles, name: str):
    files.write("mira", name, lambda _there: COOKING)

    assert files.restore(files.delete("mira", name)) == ("mira", name)


def test_several_notebooks_are_replaced_together(files: NotebookFiles, tmp_path: Path):
    files.write("mira", "cooking", lambda _there: COOKING)

    files.replace_notebooks("mira", ["cooking"], {"rice": "# Rice\n", "bread": "# Bread\n"}, "index")

    assert there(tmp_path) == {"bread.md": "# Bread\n", "index.txt": "index", "rice.md": "# Rice\n"}
    assert trashed(tmp_path) == ["cooking"]


def test_a_notebook_is_restored_under_another_name_if_its_own_is_taken(files: NotebookFiles, tmp_path: Path):
    files.write("mira", "cooking", lambda _there: COOKING)
    path = files.delete("mira", "cooking")
    files.write("mira", "cooking", lambda _there: "# Cooking\n")

    assert files.restore(path) == ("mira", "cooking-2")
    assert files.read_text("mira", "cooking-2") == COOKING
    with pytest.raises(StorageError):
        files.restore(path)


BEFORE = {"cooking": "- Rice\n- Bread", "odds": "- Odds, longer"}
AFTER = {"rice": "- Rice", "bread": "- Bread", "odds": "- Odds, shorter"}


def replace_and_die(home: Path, last: int) -> int:
    """Replace notebooks in a process of its own that dies at one step: a change of a name or of a folder's content; return its
    exit code.
    """
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    steps = count(1)

    def kill(event: str, _arguments: object) -> None:
        if event in {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree"} and next(steps) == last:
            os._exit(9)

    try:
        sys.addaudithook(kill)
        files = NotebookFiles(home / "notebooks", home / "trash")
        files.replace_notebooks("mira", list(BEFORE), AFTER, "index")
        os._exit(0)
    finally:
        os._exit(1)


def test_a_kill_at_any_step_leaves_the_whole_change_or_nothing(tmp_path: Path):
    outcomes = []
    for step in range(1, 60):
        home = tmp_path / str(step)
        before = NotebookFiles(home / "notebooks", home / "trash")
        for name, text in BEFORE.items():
            before.write("mira", name, lambda _there, text=text: text)

        died = replace_and_die(home, step)

        after = NotebookFiles(home / "notebooks", home / "trash")
        found = after.read_all("mira").texts
        assert found in (BEFORE, AFTER), f"step {step}"
        assert after.read_index("mira") == ("index" if found == AFTER else "")
        assert trashed(home) == (["cooking", "odds"] if found == AFTER else [])
        assert [path for path in (home / "notebooks" / "mira").iterdir() if path.name.startswith(".")] == []
        outcomes.append(found == AFTER)
        if died == 0:
            break
        assert died == 9

    assert outcomes == sorted(outcomes)
    assert outcomes.count(False) > 2
    assert outcomes.count(True) > 3
