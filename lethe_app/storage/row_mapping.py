"""Mapping between domain records and table rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

from pydantic import BaseModel, ValidationError

from lethe_app.domain.chat import Alternative, ChatSession, Message
from lethe_app.domain.memory import MemoryUnit
from lethe_app.errors import DatabaseDamaged


def storable_text(text: str) -> str:
    """Return the text as SQLite and UTF-8 files can store it: surrogate pairs are joined, a lone surrogate becomes U+FFFD;
    null bytes remain.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


ColumnValue = str | int | float | None
Row = tuple[Any, ...]
Model = TypeVar("Model", bound=BaseModel)

MEMORY_COLUMNS = tuple(MemoryUnit.model_fields)
SESSION_COLUMNS = tuple(name for name in ChatSession.model_fields if name not in MEMORY_COLUMNS and name != "leaf_id")
MESSAGE_COLUMNS = tuple(name for name in Message.model_fields if name != "alternatives")
ALTERNATIVE_COLUMNS = tuple(Alternative.model_fields)
JSON_COLUMNS = frozenset(
    {
        "guests",
        "keywords_main",
        "keywords_secondary",
        "tags",
        "sources",
        "future_goals",
        "source_memories",
        "source_messages",
        "degradations",
        "metadata",
    }
)
"""Columns that contain JSON: a list, or an object."""
UTC_COLUMNS = frozenset({"at", "began", "ended", "stored", "expires"})
"""Columns whose times are converted to UTC, because queries compare them as text; the others keep their time zone."""
MAX_QUERY_PARAMETERS = 500
"""Values per query; SQLite allows some thousands of parameters."""


def column_values(record: BaseModel, columns: Iterable[str]) -> dict[str, ColumnValue]:
    """Return the named fields of `record` as column values, by column."""
    values = {name: getattr(record, name) for name in columns}
    return {
        name: utc_text(value) if name in UTC_COLUMNS and value is not None else _to_column_value(value)
        for name, value in values.items()
    }


def utc_text(moment: datetime) -> str:
    """Return a moment as UTC text whose alphabetical order is the order in time."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def select_by_values(connection: sqlite3.Connection, query: str, values: Sequence[int] | Sequence[str]) -> list[Row]:
    """Return the rows of a query that ends with a column name, for those rows whose column has one of the values."""
    rows: list[Row] = []
    for start in range(0, len(values), MAX_QUERY_PARAMETERS):
        batch = values[start : start + MAX_QUERY_PARAMETERS]
        rows += connection.execute(f"{query} IN ({placeholders(batch)})", batch).fetchall()
    return rows


def placeholders(values: Sequence[object]) -> str:
    """Return as many SQL placeholders as there are values."""
    return ", ".join("?" * len(values))


def insert(connection: sqlite3.Connection, table: str, row: Mapping[str, ColumnValue]) -> None:
    """Insert one row."""
    names = ", ".join(row)
    values = ", ".join(f":{name}" for name in row)
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({values})", row)  # noqa: S608 - names are ours


def update(connection: sqlite3.Connection, table: str, key: str, row: Mapping[str, ColumnValue]) -> int:
    """Update the columns of `row` where `key` has the value it has in `row`, and return the number of rows updated.

    `key` is the name of a column, or those of several with commas.
    """
    keys = key.split(", ")
    changes = ", ".join(f"{name} = :{name}" for name in row if name not in keys)
    condition = " AND ".join(f"{name} = :{name}" for name in keys)
    return connection.execute(f"UPDATE {table} SET {changes} WHERE {condition}", row).rowcount  # noqa: S608 - names are ours


def save_row(connection: sqlite3.Connection, table: str, key: str, row: Mapping[str, ColumnValue]) -> None:
    """Update the row with the same `key`, or insert one; `key` as in `update`."""
    # Not INSERT OR REPLACE: that deletes the row first, and whatever refers to it would be deleted or set to null. Not an
    # upsert either: its conflict handling also applies inside triggers, and overrides the one of `passage_debts`.
    if not update(connection, table, key, row):
        insert(connection, table, row)


def parse_row(model: type[Model], columns: Iterable[str], row: Iterable[object]) -> Model:
    """Build a record from a row of these columns. Raise DatabaseDamaged if it is invalid."""
    return parse_record(model, dict(zip(columns, row, strict=True)))


def parse_record(model: type[Model], values: Mapping[str, object]) -> Model:
    """Build a record from column values, by column. Raise DatabaseDamaged if they are invalid."""
    try:
        parsed = {name: json.loads(str(values[name])) for name in JSON_COLUMNS.intersection(values)}
        return model.model_validate({**values, **parsed})
    except (ValidationError, json.JSONDecodeError) as error:
        raise DatabaseDamaged(
            f"The database contains an unreadable {model.__name__} ({_describe_first_error(error)}).",
            "Restore a backup, or delete the damaged entry.",
        ) from error


def _to_column_value(value: object) -> ColumnValue:
    if value is None or isinstance(value, int | float):
        return value  # SQLite keeps true and false as 1 and 0
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, list | dict):
        return storable_text(json.dumps(value, ensure_ascii=False, default=_to_json_value))
    assert isinstance(value, str | UUID), f"no column can hold a {type(value).__name__}"
    return storable_text(str(value))


def _to_json_value(value: object) -> object:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)


def _describe_first_error(error: ValidationError | json.JSONDecodeError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return error.msg
    detail = error.errors(include_url=False)[0]
    return f"{'.'.join(str(part) for part in detail['loc'])}: {detail['msg']}"
