"""A small internet of made-up names, all of whose addresses are answered by sites on this machine."""

from __future__ import annotations

from typing import Any

import httpcore

from lethe_app.web.http import NetworkRoute

PUBLIC = "93.184.216.34"


class Net(httpcore.AnyIOBackend):
    """Writes down to which address each connection goes, and leads all of them to `port` of this machine."""

    def __init__(self, port: int) -> None:
        self.port, self.connected = port, list[tuple[str, int]]()

    async def connect_tcp(self, host: str, port: int, *rest: Any, **named: Any) -> httpcore.AsyncNetworkStream:
        self.connected.append((host, port))
        return await super().connect_tcp("127.0.0.1", self.port, *rest, **named)


class Names:
    """Name → what it is found to be, the first time, the second time …; the last answer stays."""

    def __init__(self, **answers: list[list[str]]) -> None:
        self._answers = {name.replace("_", "."): list(found) for name, found in answers.items()}
        self.asked: list[str] = []

    async def __call__(self, name: str) -> list[str]:
        self.asked.append(name)
        answers = self._answers.get(name)
        if answers is None:
            raise OSError(f"no such name: {name}")
        return answers.pop(0) if len(answers) > 1 else answers[0]


def way(net: Net, **answers: list[list[str]]) -> NetworkRoute:
    """The way to a small internet, where nothing at home may be reached."""
    return NetworkRoute(resolve=Names(**answers), net=net)
