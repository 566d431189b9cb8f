"""Packs the bundle for people who may not or do not want to install: unpack it anywhere and start `lethe` in it."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
BESIDE = {
    "add-to-menu": HERE / "add-to-menu",
    "desktop/lethe.desktop": HERE / "lethe.desktop",
    "desktop/lethe.xml": HERE / "lethe.xml",
    "desktop/lethe.svg": HERE.parent.parent / "resources" / "icons" / "lethe.svg",
}
"""What lies beside the program: name in the archive, and from where."""
READ_ME = """Lethe {version}

Start the program “lethe” in this folder.

“add-to-menu” puts it into the menu of your desktop, and lets it open personas (*.lethe) by double-click; “add-to-menu --remove”
takes that back.

Your conversations are kept in ~/.local/share/Lethe. To keep them in here instead, on a stick for instance, make a folder with
the name “lethe-home” beside the program before you start it.

To remove Lethe, delete this folder. Conversations in ~/.local/share/Lethe stay where they are.
"""


def build(bundle: Path, out: Path, version: str) -> Path:
    """`out`/lethe-VERSION-linux-x86_64.tar.gz, in which everything lies in one folder."""
    folder = f"lethe-{version}"
    out.mkdir(exist_ok=True)
    archive = out / f"{folder}-linux-{machine(bundle)}.tar.gz"
    note = READ_ME.format(version=version).encode()
    with tarfile.open(archive, "w:gz", compresslevel=5) as packed:
        packed.add(bundle, folder, filter=nobodys)
        for name, source in BESIDE.items():
            packed.add(source, f"{folder}/{name}", filter=nobodys)
        read_me = tarfile.TarInfo(f"{folder}/READ ME.txt")
        read_me.size = len(note)
        packed.addfile(nobodys(read_me), io.BytesIO(note))
    return archive


def machine(bundle: Path) -> str:
    """For which processors the program was built, by its ELF header."""
    kind = (bundle / "lethe").read_bytes()[18]
    return {62: "x86_64", 183: "aarch64"}.get(kind, f"machine{kind}")


def nobodys(file: tarfile.TarInfo) -> tarfile.TarInfo:
    """Without the name of whoever packed it."""
    file.uid = file.gid = 0
    file.uname = file.gname = "root"
    return file
