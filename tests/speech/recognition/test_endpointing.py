"""Where speech begins and ends, by the probability of speech in each frame."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lethe_app.speech.recognition.endpointing import EndpointOptions, EndpointState, SpeechEvent, advance, frames_of

OPTIONS = EndpointOptions(start_frames=3, pause_frames=5, max_frames=40)


def events(probabilities: list[float], options: EndpointOptions = OPTIONS) -> list[tuple[int, SpeechEvent]]:
    """What happens at which frame."""
    state, found = EndpointState(), []
    for number, probability in enumerate(probabilities):
        state, event = advance(state, probability, options)
        found += [(number, event)] if event else []
    return found


def test_speech_begins_with_some_frames_in_a_row_and_ends_after_the_hang_over():
    assert events([0.0] * 4 + [0.9] * 6 + [0.0] * 9) == [(6, SpeechEvent.STARTED), (14, SpeechEvent.ENDED)]


def test_a_click_is_no_speech():
    assert events([0.0, 0.9, 0.9, 0.0] * 10) == []


def test_a_short_pause_does_not_end_speech():
    assert events([0.9] * 5 + [0.0] * 4 + [0.9] * 5 + [0.0] * 4) == [(2, SpeechEvent.STARTED)]


def test_a_probability_between_the_thresholds_neither_begins_nor_ends_speech():
    assert events([0.4] * 20) == []
    assert events([0.9] * 3 + [0.4] * 20) == [(2, SpeechEvent.STARTED)]


def test_speech_that_does_not_end_is_cut():
    found = events([0.9] * 90)

    assert [event for _number, event in found] == [SpeechEvent.STARTED, SpeechEvent.ENDED] * 2 + [SpeechEvent.STARTED]
    assert found[1][0] == 39


def test_durations_are_rounded_to_frames():
    assert (frames_of(0), frames_of(32), frames_of(800)) == (1, 1, 25)


@given(st.lists(st.floats(0, 1), max_size=200))
def test_beginnings_and_ends_alternate(probabilities: list[float]):
    kinds = [event for _number, event in events(probabilities)]

    assert kinds[::2] == [SpeechEvent.STARTED] * len(kinds[::2])
    assert kinds[1::2] == [SpeechEvent.ENDED] * len(kinds[1::2])
