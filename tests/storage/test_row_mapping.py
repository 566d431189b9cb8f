"""Which columns a table has: the fields of its record, however the record is declared."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from pydantic import BaseModel
from pydantic import dataclasses as pydantic_dataclasses

from lethe_app.storage.row_mapping import RecordTable


class OfModel(BaseModel):
    guid: str
    text: str = ""


@pydantic_dataclasses.dataclass(frozen=True)
class OfPydanticDataclass:
    guid: str
    text: str = ""


@dataclass(frozen=True)
class OfDataclass:
    guid: str
    text: str = ""


@pytest.mark.parametrize("record", [OfModel, OfPydanticDataclass, OfDataclass])
def test_every_field_of_a_record_is_a_column(record: type):
    assert RecordTable("things", record, "guid").columns == ("guid", "text")
