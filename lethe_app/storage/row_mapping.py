"""Mapping between domain records and table rows."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar, cast
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


log = logging.getLogger(__name__)
ColumnValue = str | int | float | None
Row = tuple[Any, ...]
Model = TypeVar("Model")
RowType = TypeVar("RowType")
Parsed = TypeVar("Parsed")

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
        "made",
        "withdrawn",
        "lapsed_sources",
    }
)
"""Columns that contain JSON: a list, or an object."""
UTC_COLUMNS = frozenset({"at", "began", "ended", "stored", "expires"})
"""Columns whose times are converted to UTC, because queries compare them as text; the others keep their time zone."""


def column_values(record: object, columns: Iterable[str]) -> dict[str, ColumnValue]:
    """Return the named fields of `record` as column values, by column."""
    values = {name: getattr(record, name) for name in columns}
    return {
        name: utc_text(value) if name in UTC_COLUMNS and value is not None else _to_column_value(value)
        for name, value in values.items()
    }


def utc_text(moment: datetime) -> str:
    """Return a moment as UTC text whose alphabetical order is the order in time."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def select_by_values(connection: sqlite3.Connection, query: str, values: Iterable[object]) -> list[Row]:
    """Return the rows of a query that ends with a column name, for those rows whose column has one of the values."""
    return connection.execute(f"{query} IN (SELECT value FROM json_each(?))", (json_list(values),)).fetchall()


def json_list(values: Iterable[object]) -> str:
    """Return ids or numbers as a JSON list, which a query reads; SQLite limits the number of parameters of a query."""
    return json.dumps([value if isinstance(value, int) else str(value) for value in values])


def json_text(value: object) -> str:
    """Return a value as the JSON text that is stored."""
    return storable_text(json.dumps(value, ensure_ascii=False, default=_to_json_value))


def select_dicts(connection: sqlite3.Connection, query: str, values: Sequence[object]) -> list[dict[str, ColumnValue]]:
    """Return the rows of a query as dictionaries by column."""
    cursor = connection.execute(query, values)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def insert(connection: sqlite3.Connection, table: str, row: Mapping[str, ColumnValue]) -> None:
    """Insert one row."""
    names = ", ".join(row)
    values = ", ".join(f":{name}" for name in row)
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({values})", row)


def update(connection: sqlite3.Connection, table: str, key: str, row: Mapping[str, ColumnValue]) -> int:
    """Update the columns of `row` where `key` has the value it has in `row`, and return the number of rows updated.

    `key` is the name of a column, or those of several with commas.
    """
    keys = key.split(", ")
    changes = ", ".join(f"{name} = :{name}" for name in row if name not in keys)
    condition = " AND ".join(f"{name} = :{name}" for name in keys)
    return connection.execute(f"UPDATE {table} SET {changes} WHERE {condition}", row).rowcount


def save_row(connection: sqlite3.Connection, table: str, key: str, row: Mapping[str, ColumnValue]) -> None:
    """Update the row with the same `key`, or insert one; `key` as in `update`."""
    # Not INSERT OR REPLACE: that deletes the row first, and whatever refers to it would be deleted or set to null. Not an
    # upsert either: its conflict handling also applies inside triggers, and overrides the one of `passage_debts`.
    if not update(connection, table, key, row):
        insert(connection, table, row)


@dataclass(frozen=True)
class RecordTable(Generic[Model]):
    """Table in which every field of a record, which is a model of Pydantic or a dataclass, is a column of the same name."""

    name: str
    model: type[Model]
    key: str
    """Name of the column that identifies a row, or the names of several with commas."""

    @property
    def columns(self) -> tuple[str, ...]:
        if issubclass(self.model, BaseModel):
            return tuple(self.model.model_fields)
        return tuple(field.name for field in fields(cast("Any", self.model)))

    def save(self, connection: sqlite3.Connection, *records: Model, **extra: ColumnValue) -> None:
        """Insert records, or update the rows with the same key; `extra` are values of columns that are no field."""
        for record in records:
            save_row(connection, self.name, self.key, column_values(record, self.columns) | extra)

    def load(
        self, connection: sqlite3.Connection, conditions: str, values: Sequence[object] | Mapping[str, object] = ()
    ) -> list[Model]:
        """Return the records of a query that goes on with these conditions, such as `WHERE id = ?`. One that cannot be read is
        left out.
        """
        return parse_rows(self.parse, connection.execute(self._query(conditions), values))

    def find(self, connection: sqlite3.Connection, conditions: str, values: Sequence[object]) -> Model | None:
        """Return the first record of such a query, or None. Raise DatabaseDamaged if it cannot be read."""
        row = connection.execute(self._query(f"{conditions} LIMIT 1"), values).fetchone()
        return None if row is None else self.parse(row)

    def _query(self, conditions: str) -> str:
        columns = ", ".join(f"{self.name}.{column}" for column in self.columns)  # a joined table may have the same ones
        return f"SELECT {columns} FROM {self.name} {conditions}"

    def parse(self, row: Iterable[object]) -> Model:
        """Build a record from a row of its columns. Raise DatabaseDamaged if it is invalid."""
        return parse_record(self.model, dict(zip(self.columns, row, strict=True)))


def parse_rows(parse: Callable[[RowType], Parsed], rows: Iterable[RowType]) -> list[Parsed]:
    """Return what `parse` makes of each row. A row that cannot be read is left out, so that the others can be."""
    parsed = []
    for row in rows:
        try:
            parsed.append(parse(row))
        except (DatabaseDamaged, ValueError, KeyError, TypeError) as error:
            log.info("A row of the database cannot be read and is left out: %s", error)
    return parsed


def read_json(text: object, default: object = None) -> Any:  # noqa: ANN401 - what is stored, whatever it is
    """Return the value of stored JSON; the default if it is none."""
    try:
        return json.loads(str(text))
    except ValueError:
        return default


def parse_record(model: type[Model], values: Mapping[str, object], dispensable: frozenset[str] = JSON_COLUMNS) -> Model:
    """Build a record from column values, by column; those of `dispensable` columns that are invalid have their default. Raise
    DatabaseDamaged if others are invalid.
    """
    create: Callable[..., Model] = model
    # No field of such a column is a text, so what is no JSON is invalid.
    parsed = {name: read_json(values[name], values[name]) for name in JSON_COLUMNS.intersection(values)}
    try:
        return create(**{**values, **parsed})
    except ValidationError as error:
        invalid = {str(detail["loc"][0]) for detail in error.errors(include_url=False) if detail["loc"]}
        if not invalid or not invalid <= dispensable.intersection(values):
            raise unreadable_error(model.__name__, _describe_first_error(error)) from error
    return parse_record(model, {name: value for name, value in values.items() if name not in invalid}, dispensable)


def unreadable_error(record: str, reason: object) -> DatabaseDamaged:
    """Return the error for a stored record that cannot be read."""
    remedy = "Restore a backup, or delete the damaged entry."
    return DatabaseDamaged(f"The database contains an unreadable {record} ({reason}).", remedy)


def _to_column_value(value: object) -> ColumnValue:
    if value is None or isinstance(value, int | float):
        return value  # SQLite keeps true and false as 1 and 0
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, list | tuple | dict):
        return json_text(value)
    assert isinstance(value, str | UUID), f"no column can hold a {type(value).__name__}"
    return storable_text(str(value))


def _to_json_value(value: object) -> object:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)


def _describe_first_error(error: ValidationError) -> str:
    detail = error.errors(include_url=False)[0]
    return f"{'.'.join(str(part) for part in detail['loc'])}: {detail['msg']}"
