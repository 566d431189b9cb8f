"""A new user's first evening, with the real window and the real starter model."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QApplication

from tests.stories.stage import Stage


def test_one_picks_a_persona_writes_stops_the_reply_closes_and_finds_everything_again(qapp: QApplication, starter_home: Path):
    reported: list[tuple[str, str]] = []

    async def first_evening(stage: Stage) -> None:
        await stage.begin("Tomas", "Mira")
        greeted = len(stage.messages())
        await stage.write("Good evening. Tell me a long story about the sea.")
        await stage.until(lambda: len(stage.messages()) == greeted + 2, "she begins to answer")
        lengths = set()

        def has_grown() -> bool:
            lengths.add(len(stage.messages()[-1][1]))
            return len(lengths) > 4

        await stage.until(has_grown, "her words arrive one by one")
        stage.click(stage.window.chat.composer.send_button)
        await stage.until(lambda: not stage.is_answering, "she stops")
        reported.extend(stage.messages())

    async def second_evening(stage: Stage) -> None:
        await stage.until(lambda: len(stage.messages()) == len(reported), "yesterday's conversation is there again")
        assert stage.messages() == reported
        await stage.write("And then?")
        await stage.until(lambda: len(stage.messages()) == len(reported) + 2, "she goes on")
        await stage.until(lambda: not stage.is_answering, "she has finished")

    Stage(starter_home).play(first_evening)
    Stage(starter_home).play(second_evening)

    assert [name for name, _text in reported] == ["Mira", "Tomas", "Mira"]
    assert reported[1][1] == "Good evening. Tell me a long story about the sea."
    assert reported[2][1]
