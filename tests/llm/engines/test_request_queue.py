"""Whose turn it is, step by step and without threads."""

from __future__ import annotations

import threading

import pytest

from lethe_app.domain.presets import SamplerPreset
from lethe_app.llm.engines.worker import RequestQueue
from lethe_app.llm.protocol import Call, Generate, RequestPriority

PRESET = SamplerPreset(name="test")


def quiet(job: int) -> Generate:
    return Generate(job, "", PRESET, 1, priority=RequestPriority.BACKGROUND)


def chat(job: int) -> Generate:
    return Generate(job, "", PRESET, 1)


def call(job: int, priority: RequestPriority) -> Call:
    return Call(job, "method", priority=priority)


@pytest.fixture
def flag() -> threading.Event:
    return threading.Event()


@pytest.fixture
def request_queue(flag: threading.Event) -> RequestQueue:
    return RequestQueue(flag)


def test_the_next_turn_begins_with_a_clear_flag(request_queue: RequestQueue, flag: threading.Event):
    request_queue.enqueue(quiet(1))
    request_queue.wait_for_next()
    request_queue.enqueue(chat(2))
    request_queue.mark_answered()

    assert request_queue.wait_for_next().job == 2
    assert not flag.is_set()
    assert not request_queue.was_preempted


def test_the_chat_arriving_between_two_turns_ends_nothing(request_queue: RequestQueue, flag: threading.Event):
    request_queue.enqueue(quiet(1))
    request_queue.wait_for_next()
    request_queue.mark_answered()

    request_queue.enqueue(chat(2))

    assert not flag.is_set()


def test_a_job_stopped_while_it_waits_never_runs(request_queue: RequestQueue, flag: threading.Event):
    for request in (chat(1), quiet(2), chat(3)):
        request_queue.enqueue(request)
    request_queue.wait_for_next()

    assert request_queue.stop(2)
    assert request_queue.stop(3)
    request_queue.enqueue(chat(4))
    request_queue.mark_answered()

    assert request_queue.wait_for_next().job == 4
    assert not flag.is_set()


def test_a_stop_that_comes_too_late_stops_nobody(request_queue: RequestQueue, flag: threading.Event):
    request_queue.enqueue(chat(1))
    request_queue.wait_for_next()
    request_queue.mark_answered()
    request_queue.enqueue(chat(2))
    request_queue.wait_for_next()

    assert not request_queue.stop(1)
    assert not flag.is_set()


def test_waiting_ends_with_a_request_or_after_a_while(request_queue: RequestQueue):
    assert not request_queue.wait(0.0)

    request_queue.enqueue(chat(1))

    assert request_queue.wait(60.0)
    assert request_queue.wait_for_next().job == 1  # waiting takes nothing
