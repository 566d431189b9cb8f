"""How every measurement speaks: a table for people, and with --json one object on the last line."""

from __future__ import annotations

import argparse
import asyncio
import inspect
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence

Row = tuple[str, object]
Figures = Mapping[str, object]
"""Numbers, or further figures; None for what could not be measured."""
Measured = Figures | tuple[Sequence[Row], Figures]
"""The figures, or further rows of the table and the figures."""


def run(
    description: str | None,
    measure: Callable[[argparse.Namespace], Measured | Awaitable[Measured]],
    *extra: tuple[str, dict[str, object]],
) -> None:
    """Measure with the options of the command line, and print the rows and the figures."""
    wanted = arguments(description, *extra)
    measured = measure(wanted)
    result = asyncio.run(_awaited(measured)) if inspect.isawaitable(measured) else measured
    rows, figures = result if isinstance(result, tuple) else ((), result)
    show([*rows, *figures.items()], figures, as_json=wanted.json)


async def _awaited(measured: Awaitable[Measured]) -> Measured:
    return await measured


def arguments(description: str | None, *extra: tuple[str, dict[str, object]]) -> argparse.Namespace:
    """The options of a measurement; `extra` are further (name, keywords of add_argument)."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    for name, keywords in extra:
        parser.add_argument(name, **keywords)  # type: ignore[arg-type]
    return parser.parse_args()


def show(rows: Sequence[Row], figures: Figures, *, as_json: bool) -> None:
    """Print the table, then the figures."""
    width = max((len(name) for name, _value in rows), default=0)
    for name, value in rows:
        if isinstance(value, Mapping) and any(isinstance(each, Mapping) for each in value.values()):
            print(name)
            show([(f"  {row}", columns) for row, columns in value.items()], {}, as_json=False)
        elif isinstance(value, Mapping):
            print(f"{name:<{width}}" + "".join(f"  {key} {number:.1f}" for key, number in value.items()))
        else:
            print(f"{name:<{width}}  {value:.3f}" if isinstance(value, float) else f"{name:<{width}}  {value}")
    if as_json:
        print(json.dumps(_rounded(figures)))


def _rounded(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _rounded(each) for key, each in value.items()}
    return round(value, 4) if isinstance(value, float) else value


async def best_ms(work: Callable[[], Awaitable[object]], rounds: int) -> float:
    """Milliseconds of the quickest of some rounds."""
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        await work()
        taken.append(time.perf_counter() - start)
    return min(taken) * 1000
