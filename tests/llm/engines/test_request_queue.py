"""Whose turn it is, step by step and without threads."""

from __future__ import annotations

import threading

import pytest

from lethe_app.domain.presets import SamplerPreset
from lethe_app.llm.engines.request_queue import RequestQueue
from lethe_app.llm.protocol import Generate, Prefill, ReleaseBackground, Request, RequestPriority, Tokenize

PRESET = SamplerPreset(name="test")


def quiet(job: int) -> Generate:
    return Generate(job, "", PRESET, 1, priority=RequestPriority.BACKGROUND)


def chat(job: int) -> Generate:
    return Generate(job, "", PRESET, 1)


@pytest.fixture
def flag() -> threading.Event:
    return threading.Event()


@pytest.fixture
def turnstile(flag: threading.Event) -> RequestQueue:
    return RequestQueue(flag)


def test_the_chat_goes_before_quiet_work_and_each_in_its_order(turnstile: RequestQueue):
    for request in (quiet(1), chat(2), ReleaseBackground(3), chat(4), quiet(5)):
        turnstile.enqueue(request)

    order = []
    for _ in range(5):
        order.append(turnstile.wait_for_next().job)
        turnstile.mark_answered()

    assert order == [2, 4, 1, 3, 5]


@pytest.mark.parametrize("request_", [chat(2), Prefill(2, ""), Tokenize(2, ())], ids=lambda request: type(request).__name__)
def test_quiet_work_that_runs_makes_way(turnstile: RequestQueue, flag: threading.Event, request_: Request):
    turnstile.enqueue(quiet(1))
    turnstile.wait_for_next()

    turnstile.enqueue(request_)

    assert flag.is_set()
    assert turnstile.was_preempted


@pytest.mark.parametrize("running", [chat(1), quiet(1)])
def test_quiet_work_ends_nobodys_turn(turnstile: RequestQueue, flag: threading.Event, running: Generate):
    turnstile.enqueue(running)
    turnstile.wait_for_next()

    turnstile.enqueue(quiet(2))
    turnstile.enqueue(ReleaseBackground(3))

    assert not flag.is_set()
    assert not turnstile.was_preempted


def test_the_next_turn_begins_with_a_clear_flag(turnstile: RequestQueue, flag: threading.Event):
    turnstile.enqueue(quiet(1))
    turnstile.wait_for_next()
    turnstile.enqueue(chat(2))
    turnstile.mark_answered()

    assert turnstile.wait_for_next().job == 2
    assert not flag.is_set()
    assert not turnstile.was_preempted


def test_the_chat_arriving_between_two_turns_ends_nothing(turnstile: RequestQueue, flag: threading.Event):
    turnstile.enqueue(quiet(1))
    turnstile.wait_for_next()
    turnstile.mark_answered()

    turnstile.enqueue(chat(2))

    assert not flag.is_set()


def test_a_job_stopped_by_its_asker_did_not_make_way(turnstile: RequestQueue, flag: threading.Event):
    turnstile.enqueue(quiet(1))
    turnstile.wait_for_next()
    stopped_while_waiting = turnstile.stop(1)
    turnstile.enqueue(chat(2))

    assert not stopped_while_waiting
    assert flag.is_set()
    assert not turnstile.was_preempted


def test_a_job_stopped_while_it_waits_never_runs(turnstile: RequestQueue, flag: threading.Event):
    for request in (chat(1), quiet(2), chat(3)):
        turnstile.enqueue(request)
    turnstile.wait_for_next()

    assert turnstile.stop(2)
    assert turnstile.stop(3)
    turnstile.enqueue(chat(4))
    turnstile.mark_answered()

    assert turnstile.wait_for_next().job == 4
    assert not flag.is_set()


def test_a_stop_that_comes_too_late_stops_nobody(turnstile: RequestQueue, flag: threading.Event):
    turnstile.enqueue(chat(1))
    turnstile.wait_for_next()
    turnstile.mark_answered()
    turnstile.enqueue(chat(2))
    turnstile.wait_for_next()

    assert not turnstile.stop(1)
    assert not flag.is_set()
