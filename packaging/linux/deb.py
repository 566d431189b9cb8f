"""Makes the Debian package of a bundle: libraries that Debian has become dependencies, the rest goes to /usr/lib/lethe."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import time
from email.utils import formatdate
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MAINTAINER = os.environ.get("LETHE_MAINTAINER", "The Lethe authors <authors@lethe.invalid>")
CONTROL = """Package: lethe
Version: {version}
Architecture: {architecture}
Maintainer: {maintainer}
Installed-Size: {kilobytes}
Depends: {depends}
Recommends: fonts-dejavu-core | fonts-liberation2 | fonts-noto-core
Section: net
Priority: optional
Description: talk with personas that remember, on language models of your own
 Lethe is for long conversations with characters: you write, a language model
 on your own computer answers as the persona you chose, and everything that
 was said stays with you. Memories come back by themselves, and say why.
 .
 A very small model comes along; your own are GGUF files. There is no account,
 no server and no telemetry, and no network is needed.
"""
BUNDLE_ICON = "application-vnd.lethe.persona+zip"
"""As lethe.xml names it."""
CHANGES = f"""lethe ({{version}}) unstable; urgency=medium

  * See CHANGELOG.md of the source.

 -- {MAINTAINER}  {{day}}
"""


def build(bundle: Path, work: Path, out: Path, version: str) -> Path:
    """`out`/lethe_VERSION_ARCHITECTURE.deb from the bundle; `work` is for what lies between."""
    tree = work / "deb" / "tree"
    shutil.rmtree(tree.parent, ignore_errors=True)
    program = tree / "usr" / "lib" / "lethe"
    shutil.copytree(bundle, program, symlinks=True)
    leave_to_debian(program / "_internal")
    place_files(tree, work / "icons", version)
    set_modes(tree)
    architecture = output("dpkg", "--print-architecture")
    kilobytes = sum(file.lstat().st_size for file in tree.rglob("*")) // 1024
    words = {"version": version, "architecture": architecture, "maintainer": MAINTAINER, "kilobytes": kilobytes}
    (tree / "DEBIAN").mkdir(mode=0o755)
    (tree / "DEBIAN" / "control").write_text(CONTROL.format(depends=dependencies(tree), **words), encoding="utf-8")
    write_sums(tree)
    put(HERE / "postrm", tree / "DEBIAN" / "postrm", 0o755)
    out.mkdir(exist_ok=True)
    package = out / f"lethe_{version}_{architecture}.deb"
    output("dpkg-deb", "--root-owner-group", "-Zgzip", "-z6", "--build", tree, package)
    return package


def leave_to_debian(inside: Path) -> None:
    """Remove libraries that a Debian package brings, which thereby become its dependencies and get its repairs."""
    cache = output("ldconfig", "-p")
    own = ("libpython", "libQt6", "libpyside", "libshiboken")  # of the very version that everything else in here was built for
    for file in sorted(file for file in inside.glob("lib*.so*") if not file.name.startswith(own)):
        place = re.search(rf"^\s+{re.escape(file.name)} .*=> (\S+)$", cache, re.MULTILINE)
        if not file.is_symlink() and place and owner(Path(place[1])):
            file.unlink()


def owner(library: Path) -> str:
    """The Debian package that this file belongs to, or nothing. /lib is /usr/lib today, and packages list either."""
    short = {str(library).removeprefix("/usr"), str(library.resolve()).removeprefix("/usr")}
    command = ["dpkg", "-S", *sorted(short), *(f"/usr{name}" for name in sorted(short))]
    found = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return found.split(":")[0]


def place_files(tree: Path, icons: Path, version: str) -> None:
    """All that the desktop, the manual and Debian's rules ask for beside the program."""
    share = tree / "usr" / "share"
    command = tree / "usr" / "bin" / "lethe"
    command.parent.mkdir(parents=True)
    command.symlink_to("../lib/lethe/lethe")
    put(HERE / "lethe.desktop", share / "applications" / "lethe.desktop")
    put(HERE / "lethe.xml", share / "mime" / "packages" / "lethe.xml")
    drawings = [(picture, f"{picture.stem}x{picture.stem}") for picture in icons.glob("*.png")]
    for picture, size in [*drawings, (ROOT / "resources" / "icons" / "lethe.svg", "scalable")]:
        for place in (f"apps/lethe{picture.suffix}", f"mimetypes/{BUNDLE_ICON}{picture.suffix}"):
            put(picture, share / "icons" / "hicolor" / size / place)
    write(share / "metainfo" / "app.lethe.Lethe.metainfo.xml", filled("app.lethe.Lethe.metainfo.xml", version))
    write(share / "man" / "man1" / "lethe.1.gz", zipped(filled("lethe.1", version)))
    put(HERE / "copyright", share / "doc" / "lethe" / "copyright")
    write(share / "doc" / "lethe" / "changelog.gz", zipped(CHANGES.format(version=version, day=formatdate(moment())).encode()))
    put(HERE / "lintian-overrides", share / "lintian" / "overrides" / "lethe")


def filled(name: str, version: str) -> bytes:
    """A file of this folder with the version and the day put in."""
    text = (HERE / name).read_text(encoding="utf-8")
    day = time.strftime("%Y-%m-%d", time.gmtime(moment()))
    return text.replace("@VERSION@", version).replace("@DATE@", day).encode()


def moment() -> int:
    """When the checkout was last changed, so that the same checkout gives the same package."""
    if told := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(told)
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return int(told or time.time())


def dependencies(tree: Path) -> str:
    """What every program and library in there is linked with and does not find in there, as dpkg-shlibdeps computes it."""
    source = tree.parent / "debian"
    source.mkdir()
    (source / "control").write_text("Source: lethe\n\nPackage: lethe\nArchitecture: any\n", encoding="utf-8")
    inside = tree / "usr" / "lib" / "lethe" / "_internal"
    own = sorted({file.parent for file in inside.rglob("*.so*")})
    linked = [file for file in tree.rglob("*") if file.is_file() and not file.is_symlink() and is_linked(file)]
    told = output(
        "dpkg-shlibdeps",
        "-O",
        "--warnings=0",
        "--ignore-missing-info",
        *(f"-l{folder.resolve()}" for folder in own),
        *(f"-e{file.resolve()}" for file in linked),
        cwd=tree.parent,
    )
    return told.split("shlibs:Depends=", 1)[1].splitlines()[0]


def is_linked(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(4) == b"\x7fELF"


def set_modes(tree: Path) -> None:
    """Programs may be run, everything may be read, nothing may be written but by the system."""
    for file in [tree, *tree.rglob("*")]:
        if not file.is_symlink():
            runs = file.is_dir() or file == tree / "usr" / "lib" / "lethe" / "lethe"
            file.chmod(0o755 if runs else 0o644)


def write_sums(tree: Path) -> None:
    files = sorted(file.relative_to(tree) for file in (tree / "usr").rglob("*") if file.is_file() and not file.is_symlink())
    write(tree / "DEBIAN" / "md5sums", (output("md5sum", *files, cwd=tree) + "\n").encode())


def put(source: Path, target: Path, mode: int = 0o644) -> None:
    write(target, source.read_bytes(), mode)


def write(target: Path, data: bytes, mode: int = 0o644) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    target.chmod(mode)


def zipped(data: bytes) -> bytes:
    return gzip.compress(data, 9, mtime=0)


def output(*command: str | Path, cwd: Path | None = None) -> str:
    """What a command printed; what it complained of is shown when it failed."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True, check=True, cwd=cwd)
    return done.stdout.rstrip("\n")
