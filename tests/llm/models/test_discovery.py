"""Models are found where people and other programs keep them, each once, and nothing on a disk can stall the search."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from lethe_app.llm.models.discovery import STARTER_SOURCE, USER_SOURCE, find_models, model_roots
from tests.llm.gguf_factory import chat_settings, write_model


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write_model(tmp_path / "template" / "model.gguf", settings=chat_settings())


def place(model: Path, *targets: Path) -> None:
    for target in targets:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(model, target)


def folders(source: str, home: str, environ: dict[str, str], platform: str) -> list[str]:
    return [path.as_posix() for name, path in model_roots(Path(home), environ, platform) if name == source]


def test_a_folder_named_twice_is_searched_once_as_the_users():
    found = model_roots(Path("/h"), {}, "linux", user_folders=[Path("/h/.lmstudio/models")])

    assert [source for source, path in found if path == Path("/h/.lmstudio/models")] == [USER_SOURCE]


@pytest.mark.parametrize(
    ("source", "platform", "expected"),
    [
        ("LM Studio", "linux", "/h/.lmstudio/models"),
        ("LM Studio", "win32", "/h/.cache/lm-studio/models"),
        ("Ollama", "linux", "/usr/share/ollama/.ollama/models"),
        ("Ollama", "darwin", "/h/.ollama/models"),
        ("GPT4All", "linux", "/h/.local/share/nomic.ai/GPT4All"),
        ("GPT4All", "darwin", "/h/Library/Application Support/nomic.ai/GPT4All"),
        ("GPT4All", "win32", "/h/AppData/Local/nomic.ai/GPT4All"),
        ("Jan", "linux", "/h/.local/share/Jan/data/llamacpp/models"),
        ("Jan", "darwin", "/h/Library/Application Support/Jan/data/models"),
        ("Jan", "win32", "/h/AppData/Roaming/Jan/data/llamacpp/models"),
        ("text-generation-webui", "linux", "/h/text-generation-webui/user_data/models"),
        ("Hugging Face", "linux", "/h/.cache/huggingface/hub"),
        ("Hugging Face", "win32", "/h/.cache/huggingface/hub"),
        ("llama.cpp", "linux", "/h/.cache/llama.cpp"),
        ("llama.cpp", "darwin", "/h/Library/Caches/llama.cpp"),
        ("llama.cpp", "win32", "/h/AppData/Local/llama.cpp"),
        ("Msty", "darwin", "/h/Library/Application Support/Msty/models"),
    ],
)
def test_other_programs_folders_are_known(source: str, platform: str, expected: str):
    assert expected in folders(source, "/h", {}, platform)


@pytest.mark.parametrize(
    ("source", "environ", "expected"),
    [
        ("Ollama", {"OLLAMA_MODELS": "/big/ollama"}, "/big/ollama"),
        ("Ollama", {"OLLAMA_MODELS": "~/store"}, "/h/store"),
        ("Hugging Face", {"HF_HOME": "/big/hf"}, "/big/hf/hub"),
        ("Hugging Face", {"HF_HUB_CACHE": "/big/hub"}, "/big/hub"),
        ("Hugging Face", {"XDG_CACHE_HOME": "/cache"}, "/cache/huggingface/hub"),
        ("llama.cpp", {"LLAMA_CACHE": "/big/cache"}, "/big/cache"),
        ("GPT4All", {"XDG_DATA_HOME": "/data"}, "/data/nomic.ai/GPT4All"),
    ],
)
def test_the_environment_moves_folders(source: str, environ: dict[str, str], expected: str):
    assert expected in folders(source, "/h", environ, "linux")


def test_linux_folders_are_not_searched_elsewhere():
    assert not any(path.startswith("/usr") for path in folders("Ollama", "/h", {}, "darwin"))


def test_models_are_found_in_the_order_of_their_places(tmp_path: Path, model: Path):
    place(model, tmp_path / "mine" / "b.gguf", tmp_path / "mine" / "A.GGUF", tmp_path / "lm" / "who" / "what" / "c.gguf")

    found = find_models(
        [(USER_SOURCE, tmp_path / "mine"), ("LM Studio", tmp_path / "lm"), ("Jan", tmp_path / "none"), (STARTER_SOURCE, model)]
    )

    assert [(one.source, one.path.name) for one in found.models] == [
        (USER_SOURCE, "A.GGUF"), (USER_SOURCE, "b.gguf"), ("LM Studio", "c.gguf"), (STARTER_SOURCE, "model.gguf")
    ]  # fmt: skip
    assert found.problems == []
    assert found.complete


def test_one_file_reached_by_several_names_is_listed_once(tmp_path: Path, model: Path):
    repository = tmp_path / "hub" / "models--who--what"
    place(model, repository / "blobs" / "abc123")
    for revision in ("one", "two"):
        link = repository / "snapshots" / revision / "what-Q4_K_M.gguf"
        link.parent.mkdir(parents=True)
        link.symlink_to(repository / "blobs" / "abc123")

    found = find_models([("Hugging Face", tmp_path / "hub")])

    assert [one.path.name for one in found.models] == ["what-Q4_K_M.gguf"]


def test_ollamas_models_have_their_ollama_names(tmp_path: Path, model: Path):
    store = tmp_path / "models"
    digest = "sha256:" + "a" * 64
    place(model, store / "blobs" / digest.replace(":", "-"))
    layers = [{"mediaType": "application/vnd.ollama.image.model", "digest": digest}, {"mediaType": "x", "digest": "y"}]
    names = {"registry.ollama.ai/library/llama3.2/3b": layers, "registry.ollama.ai/who/what/latest": layers}
    for name, content in names.items():
        (store / "manifests" / name).parent.mkdir(parents=True, exist_ok=True)
        (store / "manifests" / name).write_text(json.dumps({"layers": content}))

    found = find_models([("Ollama", store)])

    assert [one.name for one in found.models] == ["llama3.2:3b"]  # the other tag leads to the same file


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{", '{"layers": 3}', '{"layers": [4]}', '{"layers": [{"mediaType": "application/vnd.ollama.image.model"}]}',
     '{"layers": [{"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:../../secret"}]}',
     '{"layers": [{"mediaType": "application/vnd.ollama.image.model", "digest": 5}]}', "[" * 100_000],
)  # fmt: skip
def test_a_strange_manifest_is_passed_over(tmp_path: Path, content: str):
    manifest = tmp_path / "manifests" / "r" / "o" / "m" / "t"
    manifest.parent.mkdir(parents=True)
    manifest.write_text(content)
    (tmp_path / "blobs").mkdir()

    assert find_models([("Ollama", tmp_path)]).models == []


def test_a_manifest_whose_weights_are_gone_is_a_problem(tmp_path: Path):
    manifest = tmp_path / "manifests" / "r" / "library" / "m" / "t"
    manifest.parent.mkdir(parents=True)
    layer = {"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:" + "b" * 64}
    manifest.write_text(json.dumps({"layers": [layer]}))
    (tmp_path / "blobs").mkdir()

    found = find_models([("Ollama", tmp_path)])

    assert found.models == []
    assert len(found.problems) == 1


def test_what_is_no_model_is_left_out_and_broken_ones_become_problems(tmp_path: Path, model: Path):
    place(model, tmp_path / "mmproj-model-f16.gguf", tmp_path / "good.mmproj-F16.gguf", tmp_path / ".hidden.gguf")
    place(model, tmp_path / "made-with-imatrix-Q4_K_M.gguf", tmp_path / "notes.txt")
    write_model(tmp_path / "vision.gguf", "clip")
    (tmp_path / "broken.gguf").write_bytes(b"no")
    (tmp_path / "gone.gguf").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder.gguf").mkdir()

    found = find_models([(USER_SOURCE, tmp_path / "folder.gguf"), (USER_SOURCE, tmp_path)], max_depth=0)

    assert [one.path.name for one in found.models] == ["made-with-imatrix-Q4_K_M.gguf"]
    assert sorted(problem.split("“")[1].split("”")[0] for problem in found.problems if "“" in problem) == [
        "broken.gguf", "vision.gguf"
    ]  # fmt: skip
    assert any("gone.gguf" in problem or "nowhere" in problem for problem in found.problems)


def test_only_the_first_part_of_a_split_model_is_listed(tmp_path: Path):
    for number in (1, 2):
        write_model(tmp_path / f"big-0000{number}-of-00002.gguf", settings=chat_settings())

    found = find_models([(USER_SOURCE, tmp_path)])

    assert [one.path.name for one in found.models] == ["big-00001-of-00002.gguf"]
    assert found.problems == []


def test_circles_of_links_end(tmp_path: Path, model: Path):
    place(model, tmp_path / "a" / "x.gguf")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "a" / "self").symlink_to(tmp_path / "a")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")

    found = find_models([(USER_SOURCE, tmp_path / "a"), (USER_SOURCE, tmp_path / "loop"), (USER_SOURCE, tmp_path)])

    assert [one.path.name for one in found.models] == ["x.gguf", "model.gguf"]


def test_depth_number_and_time_are_limited(tmp_path: Path, model: Path):
    place(model, tmp_path / "d" / "1" / "2" / "3" / "deep.gguf", *(tmp_path / "n" / f"{number}.gguf" for number in range(5)))

    assert find_models([(USER_SOURCE, tmp_path / "d")], max_depth=2).models == []
    assert len(find_models([(USER_SOURCE, tmp_path / "d")], max_depth=3).models) == 1
    few = find_models([(USER_SOURCE, tmp_path / "n")], max_files=2)
    assert (len(few.models), few.complete) == (2, False)
    late = find_models([(USER_SOURCE, tmp_path / "n")], seconds=0.0)
    assert (late.models, late.complete) == ([], False)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a folder that may not be read")
def test_a_folder_that_may_not_be_read_is_a_problem(tmp_path: Path):
    (tmp_path / "secret").mkdir(mode=0)

    assert find_models([(USER_SOURCE, tmp_path)]).problems


def test_the_starter_has_the_name_people_know(starter_model: Path):
    found = find_models([(STARTER_SOURCE, starter_model)])

    assert found.models[0].name == "SmolLM2 135M Instruct"
