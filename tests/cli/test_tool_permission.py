"""The terminal asks before a tool is used, and where nobody types the answer is no."""

from __future__ import annotations

import asyncio

import pytest

from lethe_app.cli.chat import ask_permission
from lethe_app.domain.tools import PermissionAnswer, ToolCall
from lethe_app.services.events import ToolPermissionRequested


class Typed:
    def __init__(self, line: str | None) -> None:
        self._line = line

    async def read_line(self) -> str | None:
        return self._line


def question(about: str = "") -> ToolPermissionRequested:
    call = ToolCall(name="web_search", arguments={"query": "lemons"})
    return ToolPermissionRequested(call, "search the internet", "Mira", about, asyncio.get_running_loop().create_future())


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("y", PermissionAnswer.ALLOW),
        (" Yes\n", PermissionAnswer.ALLOW),
        ("a", PermissionAnswer.ALWAYS),
        ("n", PermissionAnswer.NOT_NOW),
        ("", PermissionAnswer.NOT_NOW),
        (None, PermissionAnswer.NOT_NOW),
    ],
)
async def test_only_a_clear_yes_allows(line: str | None, verdict: PermissionAnswer, capsys: pytest.CaptureFixture[str]):
    assert await ask_permission(question(), Typed(line)) is verdict  # type: ignore[arg-type]
    assert "Mira would like to search the internet (query: lemons)." in capsys.readouterr().out


async def test_where_nobody_types_the_answer_is_no(capsys: pytest.CaptureFixture[str]):
    assert await ask_permission(question("The lamp"), None) is PermissionAnswer.NOT_NOW
    assert "(The lamp)" in capsys.readouterr().out
