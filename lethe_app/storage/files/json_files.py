"""Reads and writes our own JSON files; a file that cannot be read is named with the field at fault and left as it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from lethe_app.config.settings import Settings
from lethe_app.domain.clock import now
from lethe_app.errors import FileError
from lethe_app.storage.atomic import write_atomically
from lethe_app.storage.error_translation import translated
from lethe_app.storage.row_mapping import storable

Model = TypeVar("Model", bound=BaseModel)

LARGEST_FILE = 20 * 1024 * 1024
NAME_FIELD = "unique_name"
"""Is the file's own name, so it is never written into the file."""


def read_object(path: Path) -> dict[str, object]:
    """The JSON object in a UTF-8 file of at most 20 MB; raises `FileError`."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise FileError(path, f"is larger than {LARGEST_FILE // 1024 // 1024} MB")
        text = path.read_bytes().decode("utf-8-sig")
        value = json.loads(text)
        if "\\ud" in text.lower():  # escapes of surrogates, perhaps of one half only, which no record could hold
            value = json.loads(storable(json.dumps(value, ensure_ascii=False)))
    except FileNotFoundError as error:
        raise FileError(path, "is not there") from error
    except OSError as error:
        raise FileError(path, f"cannot be opened: {(error.strerror or str(error)).lower()}") from error
    except UnicodeDecodeError as error:
        raise FileError(path, f"is not UTF-8 text (byte {error.start + 1})", remedy="Save it as UTF-8.") from error
    except json.JSONDecodeError as error:
        raise FileError(path, f"is not valid JSON (line {error.lineno}, column {error.colno}): {error.msg.lower()}") from error
    except RecursionError as error:
        raise FileError(path, "is nested too deeply") from error
    except ValueError as error:  # a number of more digits than Python converts
        raise FileError(path, f"is not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise FileError(path, "does not hold a JSON object, which begins with {")
    return value


def read_model(path: Path, kind: type[Model]) -> Model:
    """The record in a file; one that knows its `unique_name` takes it from the file's name. Raises `FileError`."""
    values = read_object(path)
    if NAME_FIELD in kind.model_fields:
        values[NAME_FIELD] = path.stem
    return parse(path, kind, values)


def parse(path: Path, kind: type[Model], values: dict[str, object]) -> Model:
    """What `values`, read from `path`, mean as a record; raises `FileError` with the first field at fault."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        raise FileError(path, _problem(detail), _field(detail["loc"])) from error


def write_model(path: Path, value: BaseModel, extra: dict[str, object] | None = None) -> None:
    """Write every field, and `extra` ones, as readable JSON; whole or not at all. Raises `StorageError`."""
    names = [name for name in type(value).model_fields if name != NAME_FIELD]
    lists = {name: records for name in names if (records := _records(getattr(value, name)))}
    fields = value.model_dump(mode="json", exclude={NAME_FIELD, *lists}) | (extra or {})
    told = {name: _list(lists[name]) if name in lists else _indented(fields[name]) for name in dict.fromkeys([*names, *fields])}
    text = ",\n".join(f"  {json.dumps(name)}: {one}" for name, one in told.items())
    write_atomically(path, storable("{\n" + text + "\n}\n").encode())


def _records(value: object) -> list[BaseModel]:
    return value if isinstance(value, list) and all(isinstance(one, BaseModel) for one in value) else []


def _list(records: list[BaseModel]) -> str:
    """One by one, so that other threads have their turn between two of ten thousand."""
    return "[\n    " + ",\n    ".join(_record(one).replace("\n", "\n    ") for one in records) + "\n  ]"


def _record(value: BaseModel) -> str:
    try:
        return value.model_dump_json(indent=2)
    except ValueError:  # one half of a surrogate, which `storable` mends
        return json.dumps(value.model_dump(mode="json"), ensure_ascii=False, indent=2)


def _indented(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2).replace("\n", "\n  ")


def set_aside(path: Path, trash: Path) -> Path:
    """Move a file into the trash under a name that says when; returns where it lies now."""
    with translated(path):
        trash.mkdir(parents=True, exist_ok=True)
        target = place_aside(path.name, trash)
        path.replace(target)
    return target


def place_aside(name: str, trash: Path) -> Path:
    """Where a file of that name lies in the trash, if it is put there now."""
    return trash / f"{Path(name).stem}.{now().astimezone(UTC):%Y%m%dT%H%M%S%fZ}{Path(name).suffix}"


def keep_what_is_broken(path: Path, kind: type[BaseModel], trash: Path) -> None:
    """Before `path` is overwritten: what cannot be read may still be worth something to the user."""
    if path.exists():
        try:
            read_model(path, kind)
        except FileError:
            set_aside(path, trash)


SENTENCES = {
    "missing": "is missing",
    "extra_forbidden": "is not a field that this version knows",
    "string_too_short": "must not be empty",
}
FAMILIES = {
    "string": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "list": "a list",
    "dict": "an object",
    "model": "an object",
}
BOUNDS = {"ge": "at least", "le": "at most", "gt": "more than", "lt": "less than"}
"""What pydantic calls an error, and what we call it."""


class SettingsFile:
    """The settings on disk. Names that only a newer version knows are passed over, and written back unchanged."""

    def __init__(self, path: Path, trash: Path) -> None:
        self._path = path
        self._trash = trash
        self._unknown: dict[str, object] = {}

    def load(self) -> Settings:
        """The defaults if there is no file; `FileError` names the setting that has a wrong value."""
        if not self._path.exists():
            return Settings()
        values = read_object(self._path)
        known = {name: value for name, value in values.items() if name in Settings.model_fields}
        settings = parse(self._path, Settings, known)
        self._unknown = {name: value for name, value in values.items() if name not in known}
        return settings

    def save(self, settings: Settings) -> None:
        """Raises `StorageError`. A file that could not be loaded is kept in the trash before it is replaced."""
        try:
            self.load()
        except FileError:
            set_aside(self._path, self._trash)
        write_model(self._path, settings, self._unknown)


def _field(location: tuple[int | str, ...]) -> str:
    """`first_messages[2]`, `entries[0].name`."""
    name = ""
    for part in location:
        if isinstance(part, int):
            name += f"[{part}]"
        elif part != "[key]":
            name += f".{part}" if name else part
    return name


def _problem(detail: Mapping[str, Any]) -> str:
    """A pydantic error in plain words."""
    kind, context = str(detail["type"]), detail.get("ctx", {})
    if kind in SENTENCES:
        return SENTENCES[kind]
    family, _, rest = kind.partition("_")
    if family in FAMILIES and rest in {"type", "parsing", "from_float"}:
        return f"must be {FAMILIES[family]}, not {_kind_of(detail['input'])}"
    for bound, comparison in BOUNDS.items():
        if bound in context:
            return f"must be {comparison} {context[bound]}"
    if "expected" in context:
        return f"must be {context['expected']}"
    message = str(detail["msg"]).removeprefix("Value error, ")
    return message[0].lower() + message[1:]


def _kind_of(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case str():
            return f"the text “{value[:40]}”"
        case int() | float():
            return f"the number {value}"
        case list():
            return "a list"
    return "an object"
