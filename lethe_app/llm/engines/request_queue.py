"""Decides whose turn it is with the model: first come first served, but quiet work makes way for the chat at any moment."""

from __future__ import annotations

import threading
from collections import deque

from lethe_app.llm.engines.engine import StopFlag
from lethe_app.llm.protocol import Generate, Keep, ReadAhead, Request, RequestPriority, Rest, Weigh


class RequestQueue:
    """Requests wait here. One thread puts and stops, another takes and leaves; `flag` ends the job that was taken."""

    def __init__(self, flag: StopFlag) -> None:
        self._flag = flag
        self._waiting: dict[RequestPriority, deque[Request]] = {RequestPriority.CHAT: deque(), RequestPriority.QUIET: deque()}
        self._running: Request | None = None
        self._made_way = False
        self._changed = threading.Condition()

    @property
    def made_way(self) -> bool:
        """Was the running job ended for somebody else's sake?"""
        with self._changed:
            return self._made_way

    def enqueue(self, request: Request) -> None:
        """Queue a request; one of the chat ends a quiet job that is running."""
        lane = lane_of(request)
        with self._changed:
            self._waiting[lane].append(request)
            if lane is RequestPriority.CHAT and self._running is not None and lane_of(self._running) is RequestPriority.QUIET:
                self._made_way = self._made_way or not self._flag.is_set()
                self._flag.set()
            self._changed.notify()

    def stop(self, job: int) -> bool:
        """End that job. True if it was still waiting: then it never runs, and whoever calls has to say so to the asker."""
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
        """Wait for the next request; the flag is clear when it is handed out."""
        with self._changed:
            self._changed.wait_for(lambda: any(self._waiting.values()))
            queue = self._waiting[RequestPriority.CHAT] or self._waiting[RequestPriority.QUIET]
            self._running = queue.popleft()
            self._made_way = False
            self._flag.clear()
            return self._running

    def leave(self) -> None:
        """The request taken is answered."""
        with self._changed:
            self._running = None


def lane_of(request: Request) -> RequestPriority:
    """Whatever is not said to be quiet is waited for by somebody; reading over again what was read is for later."""
    match request:
        case Rest() | Weigh() | ReadAhead(exact=True) | Keep(parting=False):
            return RequestPriority.QUIET
        case Generate(lane=lane):
            return lane
        case _:
            return RequestPriority.CHAT
