"""Whose turn it is, step by step and without threads."""

from __future__ import annotations

import threading

import pytest

from lethe_app.domain.presets import SamplerPreset
from lethe_app.llm.engines.worker import RequestQueue
from lethe_app.llm.protocol import Call, Generate, Prefill, Request, RequestPriority

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


def test_the_chat_goes_before_quiet_work_and_each_in_its_order(request_queue: RequestQueue):
    for request in (quiet(1), chat(2), call(3, RequestPriority.BACKGROUND), chat(4), quiet(5)):
        request_queue.enqueue(request)

    order = []
    for _ in range(5):
        order.append(request_queue.wait_for_next().job)
        request_queue.mark_answered()

    assert order == [2, 4, 1, 3, 5]


@pytest.mark.parametrize(
    "request_", [chat(2), Prefill(2, ""), call(2, RequestPriority.CHAT)], ids=lambda request: type(request).__name__
)
def test_quiet_work_that_runs_makes_way(request_queue: RequestQueue, flag: threading.Event, request_: Request):
    request_queue.enqueue(quiet(1))
    request_queue.wait_for_next()

    request_queue.enqueue(request_)

    assert flag.is_set()
    assert request_queue.was_preempted


@pytest.mark.parametrize("running", [chat(1), quiet(1)])
def test_quiet_work_ends_nobodys_turn(request_queue: RequestQueue, flag: threading.Event, running: Generate):
    request_queue.enqueue(running)
    request_queue.wait_for_next()

    request_queue.enqueue(quiet(2))
    request_queue.enqueue(call(3, RequestPriority.BACKGROUND))

    assert not flag.is_set()
    assert not request_queue.was_preempted


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


def test_a_job_stopped_by_its_asker_did_not_make_way(request_queue: RequestQueue, flag: threading.Event):
    request_queue.enqueue(quiet(1))
    request_queue.wait_for_next()
    stopped_while_waiting = request_queue.stop(1)
    request_queue.enqueue(chat(2))

    assert not stopped_while_waiting
    assert flag.is_set()
    assert not request_queue.was_preempted


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
