"""Request queue of the worker: first in, first out, with chat requests before background work, which they preempt."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

from lethe_app.llm.engines.engine import StopFlag
from lethe_app.llm.kv_cache.reuse import ReuseOptions
from lethe_app.llm.protocol import Call, Generate, Prefill, Request, RequestPriority


class RequestQueue:
    """Queue between the listening thread, which enqueues and stops requests, and the computing thread, which takes and
    finishes them. The stop flag `stop_flag` ends the request that was taken.
    """

    def __init__(self, stop_flag: StopFlag) -> None:
        self._stop_flag = stop_flag
        self._queues: dict[RequestPriority, deque[Request[Any]]] = {
            RequestPriority.CHAT: deque(),
            RequestPriority.BACKGROUND: deque(),
        }
        self._running: Request[Any] | None = None
        self._was_preempted = False
        self._changed = threading.Condition()

    @property
    def was_preempted(self) -> bool:
        """Whether the running job was preempted by a chat request."""
        with self._changed:
            return self._was_preempted

    def enqueue(self, request: Request[Any]) -> None:
        """Queue a request; a chat request stops a background job that is running."""
        priority = priority_of(request)
        with self._changed:
            self._queues[priority].append(request)
            if (
                priority is RequestPriority.CHAT
                and self._running is not None
                and priority_of(self._running) is RequestPriority.BACKGROUND
            ):
                # A job that its own requester has stopped already was not preempted.
                self._was_preempted = self._was_preempted or not self._stop_flag.is_set()
                self._stop_flag.set()
            self._changed.notify()

    def stop(self, job: int) -> bool:
        """Stop a job. Return True if it was still queued: it then never runs, and the caller must send its last report."""
        with self._changed:
            if self._running is not None and self._running.job == job:
                self._stop_flag.set()
                return False
            for queue in self._queues.values():
                queued = [request for request in queue if request.job == job]
                if queued:
                    queue.remove(queued[0])
                    return True
            return False  # it has just ended by itself

    def wait(self, seconds: float) -> bool:
        """Wait for a request for at most `seconds`; return whether there is one."""
        with self._changed:
            return self._changed.wait_for(lambda: any(self._queues.values()), seconds)

    def wait_for_next(self) -> Request[Any]:
        """Wait for the next request and return it with the stop flag cleared."""
        with self._changed:
            self._changed.wait_for(lambda: any(self._queues.values()))
            queue = self._queues[RequestPriority.CHAT] or self._queues[RequestPriority.BACKGROUND]
            self._running = queue.popleft()
            self._was_preempted = False
            self._stop_flag.clear()
            return self._running

    def mark_answered(self) -> None:
        """Mark the taken request as answered."""
        with self._changed:
            self._running = None


def priority_of(request: Request[Any]) -> RequestPriority:
    """Return the priority of a request. Whatever is not background work counts as CHAT, because its sender waits; exact
    recomputation of a cached prompt is background work.
    """
    match request:
        case Prefill(reuse=ReuseOptions(exact=True)):
            return RequestPriority.BACKGROUND
        case Generate(priority=priority) | Call(priority=priority):
            return priority
        case _:
            return RequestPriority.CHAT
