"""Reading and writing of JSON files; an unreadable file is reported with the field at fault and left unchanged."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from datetime import UTC
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from lethe_app.config.settings import Settings
from lethe_app.domain.clock import now
from lethe_app.errors import FileError
from lethe_app.storage.atomic import write_atomically
from lethe_app.storage.error_translation import translate_errors
from lethe_app.storage.row_mapping import storable_text

Model = TypeVar("Model", bound=BaseModel)

MAX_FILE_BYTES = 20 * 1024 * 1024
"""Maximum size of a JSON file in bytes."""
NAME_FIELD = "unique_name"
"""Field that contains the file's own name; it is never written to the file."""


FileStamp = tuple[int, int]
"""Modification time and size of a file, by which a change is detected."""


def file_stamp(path: Path) -> FileStamp | None:
    """Return the stamp of a file; None if it cannot be accessed."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def read_text(path: Path, max_bytes: int) -> str:
    """Read a UTF-8 file of at most so many bytes. Raise `FileError`."""
    try:
        if path.stat().st_size > max_bytes:
            raise FileError(path, f"is larger than {max_bytes // 1024 // 1024} MB")
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise FileError(path, "does not exist") from error
    except OSError as error:
        raise FileError(path, f"cannot be opened: {(error.strerror or str(error)).lower()}") from error
    except UnicodeDecodeError as error:
        raise FileError(path, f"is not UTF-8 text (byte {error.start + 1})", remedy="Save it as UTF-8.") from error


def read_object(path: Path) -> dict[str, object]:
    """Read a JSON object from a UTF-8 file of at most 20 MB. Raise `FileError`."""
    text = read_text(path, MAX_FILE_BYTES)
    try:
        value = json.loads(text)
        if "\\ud" in text.lower():  # escaped surrogates, perhaps lone ones, which no record can contain
            value = json.loads(storable_text(json.dumps(value, ensure_ascii=False)))
    except json.JSONDecodeError as error:
        raise FileError(path, f"is not valid JSON (line {error.lineno}, column {error.colno}): {error.msg.lower()}") from error
    except RecursionError as error:
        raise FileError(path, "is nested too deeply") from error
    except ValueError as error:  # a number of more digits than Python converts
        raise FileError(path, f"is not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise FileError(path, "does not contain a JSON object, which begins with {")
    return value


def read_model(path: Path, kind: type[Model]) -> Model:
    """Read a record from a file; its `unique_name`, if it has that field, is the file's name. Raise `FileError`."""
    values = read_object(path)
    if NAME_FIELD in kind.model_fields:
        values[NAME_FIELD] = path.stem
    return parse_model(path, kind, values)


def parse_model(path: Path, kind: type[Model], values: dict[str, object]) -> Model:
    """Build a record from `values` read from `path`. Raise `FileError` with the first field at fault."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        raise FileError(path, _describe_error(detail), _format_location(detail["loc"])) from error


def write_model(path: Path, value: BaseModel, extra: dict[str, object] | None = None) -> None:
    """Write all fields, and `extra` ones, as indented JSON, atomically. Raise `StorageError`."""
    names = [name for name in type(value).model_fields if name != NAME_FIELD]
    lists = {name: records for name in names if (records := _model_list(getattr(value, name)))}
    fields = value.model_dump(mode="json", exclude={NAME_FIELD, *lists}) | (extra or {})
    texts = {
        name: _dump_models(lists[name]) if name in lists else _dump_indented(fields[name])
        for name in dict.fromkeys([*names, *fields])
    }
    text = ",\n".join(f"  {json.dumps(name)}: {field_text}" for name, field_text in texts.items())
    write_atomically(path, storable_text("{\n" + text + "\n}\n").encode())


def _model_list(value: object) -> list[BaseModel]:
    return value if isinstance(value, list) and all(isinstance(item, BaseModel) for item in value) else []


def _dump_models(records: list[BaseModel]) -> str:
    """Serialise records one by one: one call for ten thousand would block other threads throughout (GIL)."""
    return "[\n    " + ",\n    ".join(_dump_model(record).replace("\n", "\n    ") for record in records) + "\n  ]"


def _dump_model(value: BaseModel) -> str:
    try:
        return value.model_dump_json(indent=2)
    except ValueError:  # a lone surrogate, which `storable_text` replaces
        return json.dumps(value.model_dump(mode="json"), ensure_ascii=False, indent=2)


def _dump_indented(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2).replace("\n", "\n  ")


def move_to_trash(path: Path, trash: Path) -> Path:
    """Move a file to the trash, with the time in its name, and return its new path. Raise StorageError."""
    with translate_errors(path):
        trash.mkdir(parents=True, exist_ok=True)
        target = trash_path(path.name, trash)
        path.replace(target)
    return target


def trash_path(name: str, trash: Path) -> Path:
    """Return the path in the trash for a file of that name, if it is moved there now."""
    return trash / f"{Path(name).stem}.{now().astimezone(UTC):%Y%m%dT%H%M%S%fZ}{Path(name).suffix}"


def trash_if_unreadable(path: Path, kind: type[BaseModel], trash: Path) -> None:
    """Move an unreadable file to the trash before it is overwritten, since it may still be of use to the user."""
    if path.exists():
        try:
            read_model(path, kind)
        except FileError:
            move_to_trash(path, trash)


ERROR_MESSAGES = {
    "missing": "is missing",
    "extra_forbidden": "is not a field this version knows",
    "string_too_short": "must not be empty",
}
"""Messages for pydantic's error types."""
TYPE_NAMES = {
    "string": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "list": "a list",
    "dict": "an object",
    "model": "an object",
}
"""Names for the types in pydantic's error types."""
BOUND_NAMES = {"ge": "at least", "le": "at most", "gt": "more than", "lt": "less than"}
"""Wording for the bounds in the context of pydantic's errors."""


DISABLE_PROACTIVE = "disable_eurekas"
"""Name under which earlier versions stored the opposite of `proactive_messages`."""


class SettingsFile:
    """File with the settings. What only a newer version knows, and values that cannot be used, are written back unchanged."""

    def __init__(self, path: Path, trash: Path) -> None:
        self._path = path
        self._trash = trash
        self._stored: dict[str, Any] = {}
        """Values of the file, under the names of this version."""
        self._loaded: dict[str, Any] = {}
        """Settings as loaded, to see which ones were changed since."""
        self.problems: list[FileError] = []
        """Values of the file that cannot be used, each with its reason; names of a newer version are none."""

    def load(self) -> Settings:
        """Read the settings, or return the defaults if there is no file. A value that cannot be used is left out, so that its
        default stands in. Raise `FileError` if the file contains no JSON object.
        """
        with translate_errors(self._path):
            if not self._path.exists():
                return Settings()
        # Earlier versions called the setting `session_notes` `scratch`.
        values = {"session_notes" if name == "scratch" else name: value for name, value in read_object(self._path).items()}
        if DISABLE_PROACTIVE in values:
            values.setdefault("proactive_messages", not values.pop(DISABLE_PROACTIVE))
        self._stored = values
        known = {name: value for name, value in values.items() if name in Settings.model_fields}
        settings, self.problems = read_usable(self._path, Settings, known)
        self._loaded = settings.model_dump(mode="json")
        return settings

    def save(self, settings: Settings) -> None:
        """Write the settings. A file that cannot be read is moved to the trash first. Raise StorageError."""
        try:
            self.load()
        except FileError:
            move_to_trash(self._path, self._trash)
        write_model(self._path, settings, _merge(self._stored, self._loaded, settings.model_dump(mode="json")))


def read_usable(path: Path, kind: type[Model], values: dict[str, Any]) -> tuple[Model, list[FileError]]:
    """Build a record from those of the `values` that are valid: the smallest part that makes a value invalid is left out.
    Return the record and what is wrong with each part.
    """
    usable = copy.deepcopy(values)
    problems: list[FileError] = []
    while True:
        try:
            return kind.model_validate(usable), problems
        except ValidationError as error:
            detail = error.errors(include_url=False)[0]
        problem = FileError(path, _describe_error(detail), _format_location(detail["loc"]))
        if not detail["loc"]:
            raise problem
        if detail["type"] != "extra_forbidden":
            problems.append(problem)
        _leave_out(usable, detail["loc"])


def _leave_out(container: Any, location: Sequence[int | str]) -> None:  # noqa: ANN401 - JSON, whatever it is
    """Delete what is at a location in nested lists and objects; a missing part makes the whole unusable."""
    part, *rest = location
    inner = container[part]
    if rest and rest[0] in (range(len(inner)) if isinstance(inner, list) else inner if isinstance(inner, dict) else ()):
        _leave_out(inner, rest)
    else:
        del container[part]


def _merge(stored: Any, loaded: Any, current: Any) -> Any:  # noqa: ANN401 - JSON, whatever it is
    """Return the `current` value, with what is the same as it was `loaded` as it is `stored`."""
    if not (isinstance(stored, dict) and isinstance(loaded, dict) and isinstance(current, dict)):
        return stored if current == loaded else current
    left_out = {name: value for name, value in stored.items() if name not in loaded}
    return left_out | {name: _merge(stored.get(name, value), loaded.get(name), value) for name, value in current.items()}


def _format_location(location: tuple[int | str, ...]) -> str:
    """Return a location as text: `first_messages[2]`, `entries[0].name`."""
    name = ""
    for part in location:
        if isinstance(part, int):
            name += f"[{part}]"
        elif part != "[key]":
            name += f".{part}" if name else part
    return name


def _describe_error(detail: Mapping[str, Any]) -> str:
    """Return a pydantic error as the end of a sentence."""
    kind, context = str(detail["type"]), detail.get("ctx", {})
    if kind in ERROR_MESSAGES:
        return ERROR_MESSAGES[kind]
    type_prefix, _, rest = kind.partition("_")
    if type_prefix in TYPE_NAMES and rest in {"type", "parsing", "from_float"}:
        return f"must be {TYPE_NAMES[type_prefix]}, not {_describe_value(detail['input'])}"
    for bound, comparison in BOUND_NAMES.items():
        if bound in context:
            return f"must be {comparison} {context[bound]}"
    if "expected" in context:
        return f"must be {context['expected']}"
    message = str(detail["msg"]).removeprefix("Value error, ")
    return message[0].lower() + message[1:]


def _describe_value(value: object) -> str:
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
