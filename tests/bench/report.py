"""How every measurement speaks: a table for people, and with --json one object on the last line."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence


def arguments(description: str | None, *extra: tuple[str, dict[str, object]]) -> argparse.Namespace:
    """The options of a measurement; `extra` are further (name, keywords of add_argument)."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    for name, keywords in extra:
        parser.add_argument(name, **keywords)  # type: ignore[arg-type]
    return parser.parse_args()


def show(rows: Sequence[tuple[str, object]], figures: Mapping[str, float], *, as_json: bool) -> None:
    """Print the table, then the figures."""
    width = max((len(name) for name, _value in rows), default=0)
    for name, value in rows:
        print(f"{name:<{width}}  {value:.3f}" if isinstance(value, float) else f"{name:<{width}}  {value}")
    if as_json:
        print(json.dumps({key: round(value, 4) for key, value in figures.items()}))
