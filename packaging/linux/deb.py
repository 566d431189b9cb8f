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
    """Make `out`/lethe_VERSION_ARCHITECTURE.deb from the bundle; `work` is for intermediate files."""
    tree = work / "deb" / "tree"
    shutil.rmtree(tree.parent, ignore_errors=True)
    program = tree / "usr" / "lib" / "lethe"
    shutil.copytree(bundle, program, symlinks=True)
    remove_debian_libraries(program / "_internal")
    place_files(tree, work / "icons", version)
    set_modes(tree)
    architecture = read_output("dpkg", "--print-architecture")
    kilobytes = sum(file.lstat().st_size for file in tree.rglob("*")) // 1024
    fields = {"version": version, "architecture": architecture, "maintainer": MAINTAINER, "kilobytes": kilobytes}
    (tree / "DEBIAN").mkdir(mode=0o755)
    (tree / "DEBIAN" / "control").write_text(CONTROL.format(depends=dependencies(tree), **fields), encoding="utf-8")
    write_checksums(tree)
    copy_file(HERE / "postrm", tree / "DEBIAN" / "postrm", 0o755)
    out.mkdir(exist_ok=True)
    package = out / f"lethe_{version}_{architecture}.deb"
    read_output("dpkg-deb", "--root-owner-group", "-Zgzip", "-z6", "--build", tree, package)
    return package


def remove_debian_libraries(inside: Path) -> None:
    """Remove libraries that a Debian package brings, which thereby become its dependencies and get its repairs."""
    cache = read_output("ldconfig", "-p")
    own = ("libpython", "libQt6", "libpyside", "libshiboken")  # of the very version that everything else in here was built for
    for file in sorted(file for file in inside.glob("lib*.so*") if not file.name.startswith(own)):
        place = re.search(rf"^\s+{re.escape(file.name)} .*=> (\S+)$", cache, re.MULTILINE)
        if not file.is_symlink() and place and debian_package_of(Path(place[1])):
            file.unlink()


def debian_package_of(library: Path) -> str:
    """Return the Debian package that owns the library, or an empty string. /lib is /usr/lib today, and packages list either."""
    short = {str(library).removeprefix("/usr"), str(library.resolve()).removeprefix("/usr")}
    command = ["dpkg", "-S", *sorted(short), *(f"/usr{name}" for name in sorted(short))]
    found = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return found.split(":")[0]


def place_files(tree: Path, icons: Path, version: str) -> None:
    """Add the files that the desktop, the manual and Debian's rules require beside the program."""
    share = tree / "usr" / "share"
    command = tree / "usr" / "bin" / "lethe"
    command.parent.mkdir(parents=True)
    command.symlink_to("../lib/lethe/lethe")
    copy_file(HERE / "lethe.desktop", share / "applications" / "lethe.desktop")
    copy_file(HERE / "lethe.xml", share / "mime" / "packages" / "lethe.xml")
    drawings = [(picture, f"{picture.stem}x{picture.stem}") for picture in icons.glob("*.png")]
    for picture, size in [*drawings, (ROOT / "resources" / "icons" / "lethe.svg", "scalable")]:
        for place in (f"apps/lethe{picture.suffix}", f"mimetypes/{BUNDLE_ICON}{picture.suffix}"):
            copy_file(picture, share / "icons" / "hicolor" / size / place)
    write_file(share / "metainfo" / "app.lethe.Lethe.metainfo.xml", fill_template("app.lethe.Lethe.metainfo.xml", version))
    write_file(share / "man" / "man1" / "lethe.1.gz", compress(fill_template("lethe.1", version)))
    copy_file(HERE / "copyright", share / "doc" / "lethe" / "copyright")
    write_file(
        share / "doc" / "lethe" / "changelog.gz",
        compress(CHANGES.format(version=version, day=formatdate(release_time())).encode()),
    )
    copy_file(HERE / "lintian-overrides", share / "lintian" / "overrides" / "lethe")


def fill_template(name: str, version: str) -> bytes:
    """Return a file of this folder with version and date filled in."""
    text = (HERE / name).read_text(encoding="utf-8")
    day = time.strftime("%Y-%m-%d", time.gmtime(release_time()))
    return text.replace("@VERSION@", version).replace("@DATE@", day).encode()


def release_time() -> int:
    """Return the time of the last commit, so that the same checkout gives the same package."""
    if answer := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(answer)
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return int(answer or time.time())


def dependencies(tree: Path) -> str:
    """Return the packages that hold the libraries the bundle is linked with but does not contain, by dpkg-shlibdeps."""
    source = tree.parent / "debian"
    source.mkdir()
    (source / "control").write_text("Source: lethe\n\nPackage: lethe\nArchitecture: any\n", encoding="utf-8")
    inside = tree / "usr" / "lib" / "lethe" / "_internal"
    own = sorted({file.parent for file in inside.rglob("*.so*")})
    linked = [file for file in tree.rglob("*") if file.is_file() and not file.is_symlink() and is_linked(file)]
    answer = read_output(
        "dpkg-shlibdeps",
        "-O",
        "--warnings=0",
        "--ignore-missing-info",
        *(f"-l{folder.resolve()}" for folder in own),
        *(f"-e{file.resolve()}" for file in linked),
        cwd=tree.parent,
    )
    return answer.split("shlibs:Depends=", 1)[1].splitlines()[0]


def is_linked(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(4) == b"\x7fELF"


def set_modes(tree: Path) -> None:
    """Make programs executable and everything readable, and nothing writable except by root."""
    for file in [tree, *tree.rglob("*")]:
        if not file.is_symlink():
            runs = file.is_dir() or file == tree / "usr" / "lib" / "lethe" / "lethe"
            file.chmod(0o755 if runs else 0o644)


def write_checksums(tree: Path) -> None:
    files = sorted(file.relative_to(tree) for file in (tree / "usr").rglob("*") if file.is_file() and not file.is_symlink())
    write_file(tree / "DEBIAN" / "md5sums", (read_output("md5sum", *files, cwd=tree) + "\n").encode())


def copy_file(source: Path, target: Path, mode: int = 0o644) -> None:
    write_file(target, source.read_bytes(), mode)


def write_file(target: Path, data: bytes, mode: int = 0o644) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    target.chmod(mode)


def compress(data: bytes) -> bytes:
    return gzip.compress(data, 9, mtime=0)


def read_output(*command: str | Path, cwd: Path | None = None) -> str:
    """Return what a command printed. Raise CalledProcessError; its error output goes to the terminal."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True, check=True, cwd=cwd)
    return done.stdout.rstrip("\n")
