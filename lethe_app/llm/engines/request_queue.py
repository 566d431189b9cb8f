"""Request queue of the worker: first in, first out, with chat requests before background work, which they preempt."""

from __future__ import annotations

import threading
from collections import deque

from lethe_app.llm.engines.engine import StopFlag
from lethe_app.llm.protocol import Generate, Keep, ReadAhead, Request, RequestPriority, Rest, Weigh


class RequestQueue:
    """Queue between the listening thread, which enqueues and stops requests, and the computing thread, which takes and
    finishes them. The stop flag `flag` ends the request that was taken.
    """

    def __init__(self, flag: StopFlag) -> None:
        self._flag = flag
        self._waiting: dict[RequestPriority, deque[Request]] = {RequestPriority.CHAT: deque(), RequestPriority.QUIET: deque()}
        self._running: Request | None = None
        self._made_way = False
        self._changed = threading.Condition()

    @property
    def made_way(self) -> bool:
        """Whether the running job was preempted by a chat request."""
        with self._changed:
            return self._made_way

    def enqueue(self, request: Request) -> None:
        """Queue a request; a chat request stops a background job that is running."""
        lane = lane_of(request)
        with self._changed:
            self._waiting[lane].append(request)
            if lane is RequestPriority.CHAT and self._running is not None and lane_of(self._running) is RequestPriority.QUIET:
                # A job that its own requester has stopped already was not preempted.
                self._made_way = self._made_way or not self._flag.is_set()
                self._flag.set()
            self._changed.notify()

    def stop(self, job: int) -> bool:
        """Stop a job. Return True if it was still queued: it then never runs, and the caller must send its last report."""
        with self._changed:
            if self._running is not None and self._running.job == job:
                self._flag.set()
                return False
            for queue in self._waiting.values():
                found = [request for request in queue if request.job == job]
                if found:
                    queue.remove(found[0])
                    return True
            return False  # it has just ended by itself

    def take(self) -> Request:
        """Wait for the next request and return it with the stop flag cleared."""
        with self._changed:
            self._changed.wait_for(lambda: any(self._waiting.values()))
            queue = self._waiting[RequestPriority.CHAT] or self._waiting[RequestPriority.QUIET]
            self._running = queue.popleft()
            self._made_way = False
            self._flag.clear()
            return self._running

    def leave(self) -> None:
        """Mark the taken request as answered."""
        with self._changed:
            self._running = None


def lane_of(request: Request) -> RequestPriority:
    """Return the priority of a request. Whatever is not background work counts as CHAT, because its sender waits; exact
    recomputation of a cached prompt is background work.
    """
    match request:
        case Rest() | Weigh() | ReadAhead(exact=True) | Keep(parting=False):
            return RequestPriority.QUIET
        case Generate(lane=lane):
            return lane
        case _:
            return RequestPriority.CHAT
