"""A bare Debian with a screen of its own, on which a program is started, seen, typed at and closed as a person would."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

SUITE = "bookworm"
MIRROR = "http://deb.debian.org/debian"
PATIENCE = 300.0
INSIDE = r"""
root=$1; shift
mkdir -p /tmp/.X11-unix; mount --bind /dev "$root/dev"; mount -t proc proc "$root/proc"
mount --bind /tmp/.X11-unix "$root/tmp/.X11-unix"
exec chroot "$root" env -i HOME=/home/sam LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin DISPLAY="${DISPLAY:-}" \
  XDG_RUNTIME_DIR=/tmp "$@"
"""


def bare_debian(folder: Path) -> Path:
    """A fresh system with nothing but what every Debian has: no Python, no Qt, no X."""
    root = folder / "debian"
    command = ["debootstrap", "--variant=minbase", SUITE, str(root), MIRROR]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=1200)
    for place in ("tmp/.X11-unix", "home/sam"):
        (root / place).mkdir(parents=True)
    return root


def inside(root: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run something in there until it ends; it must end well."""
    done = subprocess.run(entering(root, *command), capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def entering(root: Path, *command: str) -> list[str]:
    """With mounts of its own, which are gone with the process, as all its children are."""
    return ["unshare", "--mount", "--fork", "--pid", "--kill-child", "sh", "-ec", INSIDE, "sh", str(root), *command]


@contextmanager
def screen() -> Iterator[str]:
    """A screen nobody sees; its name as in DISPLAY."""
    Path("/tmp/.X11-unix").mkdir(mode=0o1777, exist_ok=True)
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x900x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    try:
        with os.fdopen(read) as pipe:
            yield f":{pipe.readline().strip()}"
    finally:
        server.terminate()
        server.wait()


class Desktop:
    """The program on that screen."""

    def __init__(self, root: Path, display: str, pictures: Path) -> None:
        self._root, self._pictures = root, pictures
        self._environment = {**os.environ, "DISPLAY": display}
        self._process: subprocess.Popen[bytes] | None = None
        pictures.mkdir(parents=True, exist_ok=True)

    def start(self, *command: str) -> None:
        self._process = subprocess.Popen(entering(self._root, *command), env=self._environment)

    def window(self, title: str) -> str:
        """The window whose title matches, once it is there; it gets the keyboard and, lacking a window manager, a place."""
        until(lambda: self._found(title), f"no window “{title}”")
        window = self._found(title)[0]
        self._do("windowfocus", "--sync", window)
        self._do("windowmove", window, "0", "0", "windowsize", window, "1280", "800")
        return window

    def _found(self, title: str) -> list[str]:
        command = ["xdotool", "search", "--onlyvisible", "--name", title]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=self._environment).stdout.split()

    def click(self, x: int, y: int) -> None:
        self._do("mousemove", str(x), str(y), "click", "1")

    def type(self, words: str) -> None:
        self._do("type", "--delay", "30", words)

    def press(self, keys: str) -> None:
        self._do("key", keys)

    def picture(self, name: str) -> Path:
        """What is on the screen, kept as NAME.png."""
        file = self._pictures / f"{name}.png"
        command = ["import", "-window", "root", str(file)]
        subprocess.run(command, check=True, env=self._environment)
        return file

    def still_picture(self, name: str) -> Path:
        """The screen once nothing but a caret has moved on it for a while."""
        last = self.picture(name)
        quiet_since = time.monotonic()

        def rests() -> bool:
            nonlocal quiet_since
            before = shutil.copy(last, last.with_suffix(".before.png"))
            time.sleep(1)
            if changed(Path(before), self.picture(name)) > 400:
                quiet_since = time.monotonic()
            return time.monotonic() - quiet_since > 8

        until(rests, "the screen never came to rest")
        last.with_suffix(".before.png").unlink()
        return last

    def close(self) -> int:
        """Ctrl+Q, as a person would; the exit code."""
        self.press("ctrl+q")
        return self._process.wait(PATIENCE)

    def end(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def _do(self, *command: str) -> None:
        subprocess.run(["xdotool", *command], check=True, env=self._environment)


def changed(one: Path, other: Path, part: str = "") -> int:
    """How many pixels differ visibly between two pictures of the screen, or between `part` of them (WxH+X+Y)."""
    pictures = [f"{file}[{part}]" if part else str(file) for file in (one, other)]
    command = ["compare", "-metric", "AE", "-fuzz", "5%", *pictures, "null:"]
    return int(float(subprocess.run(command, capture_output=True, text=True, check=False).stderr.split()[0]))


def until(condition: Callable[[], object], otherwise: str, seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, otherwise
        time.sleep(0.5)
