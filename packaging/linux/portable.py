"""Packs the bundle as an archive that runs without installation: unpack it anywhere and start `lethe` in it."""

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
"""Files beside the program: name in the archive → source."""
READ_ME = """Lethe {version}

Start the program “lethe” in this folder.

“add-to-menu” puts it into the menu of your desktop, and lets it open personas (*.lethe) by double-click; “add-to-menu --remove”
takes that back.

Your conversations are kept in ~/.local/share/Lethe. To keep them in here instead, on a stick for instance, make a folder with
the name “lethe-home” beside the program before you start it.

To remove Lethe, delete this folder. Conversations in ~/.local/share/Lethe stay where they are.
"""


def build(bundle: Path, out: Path, version: str) -> Path:
    """Make `out`/lethe-VERSION-linux-x86_64.tar.gz, with everything in one folder."""
    folder = f"lethe-{version}"
    out.mkdir(exist_ok=True)
    archive = out / f"{folder}-linux-{architecture_of(bundle)}.tar.gz"
    note = READ_ME.format(version=version).encode()
    with tarfile.open(archive, "w:gz", compresslevel=5) as packed:
        packed.add(bundle, folder, filter=anonymise)
        for name, source in BESIDE.items():
            packed.add(source, f"{folder}/{name}", filter=anonymise)
        read_me = tarfile.TarInfo(f"{folder}/READ ME.txt")
        read_me.size = len(note)
        packed.addfile(anonymise(read_me), io.BytesIO(note))
    return archive


def architecture_of(bundle: Path) -> str:
    """Return the architecture of the program from its ELF header."""
    kind = (bundle / "lethe").read_bytes()[18]
    return {62: "x86_64", 183: "aarch64"}.get(kind, f"machine{kind}")


def anonymise(file: tarfile.TarInfo) -> tarfile.TarInfo:
    """Return the entry with root as its owner instead of whoever packed it."""
    file.uid = file.gid = 0
    file.uname = file.gname = "root"
    return file
