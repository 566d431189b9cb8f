"""A portrait from a stranger is a picture of a bounded size, or it is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QImage

from lethe_app.interchange.images import MAX_BYTES, SIZE_READERS, find_problem
from lethe_app.paths import shipped_root
from tests.interchange.packed import members, png, refusal


def drawn(kind: str) -> bytes:
    """A real picture, as Qt writes it."""
    image = QImage(30, 20, QImage.Format.Format_RGB32)
    image.fill(0x23708A)
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    assert image.save(buffer, kind)
    return bytes(data.data())


@pytest.mark.parametrize(("ending", "kind"), [(".png", "PNG"), (".jpg", "JPEG"), (".jpeg", "JPEG"), (".webp", "WEBP")])
def test_a_real_picture_is_known_with_its_size(ending: str, kind: str):
    content = drawn(kind)

    assert find_problem(content, ending) == ""
    assert SIZE_READERS[ending](content) == (30, 20)


def test_gif_is_known():
    assert SIZE_READERS[".gif"](b"GIF89a" + (30).to_bytes(2, "little") + (20).to_bytes(2, "little") + b"\0" * 9) == (30, 20)


@pytest.mark.parametrize("ending", [*SIZE_READERS, ".svg", ".exe", ""])
def test_what_is_something_else_is_refused(ending: str):
    assert find_problem(b"#!/bin/sh\necho hello\n" * 20, ending)


def test_a_picture_under_the_name_of_another_kind_is_refused():
    assert find_problem(drawn("PNG"), ".jpg") == "is not an image of the type its name says"


@pytest.mark.parametrize(("width", "height"), [(0, 5), (60_000, 2), (16_000, 16_000)])
def test_a_picture_that_would_fill_the_memory_is_refused(width: int, height: int):
    assert "not a valid portrait size" in find_problem(png(width, height), ".png")


def test_a_picture_of_too_many_bytes_is_refused():
    assert find_problem(png() + b"\0" * MAX_BYTES, ".png") == "is larger than 32 MB"


@pytest.mark.parametrize("file", sorted((shipped_root() / "personas").glob("*.svg")), ids=lambda file: file.stem)
def test_every_portrait_of_ours_may_be_given_away(file: Path):
    assert find_problem(file.read_bytes(), ".svg") == ""


@pytest.mark.parametrize(
    "inside",
    [
        "<image href='file:///etc/passwd'/>",
        "<x:image xlink:href='a.png'/>",
        "<a href='https://example.org'/>",
        "<rect style='fill:url(other.svg#a)'/>",
        "<script>alert(1)</script>",
        "<rect onload='x()'/>",
        "<use href='#a'/>",
        "<style>@import 'x.css';</style>",
    ],
)
def test_a_drawing_that_reaches_outside_of_itself_is_refused(inside: str):
    content = f"<svg xmlns='http://www.w3.org/2000/svg'>{inside}</svg>".encode()

    assert find_problem(content, ".svg") == "is a drawing that refers to external content"


def test_a_drawing_that_unfolds_is_refused():
    content = b"<!DOCTYPE svg [<!ENTITY a 'aaaa'>]><svg xmlns='http://www.w3.org/2000/svg'>&a;</svg>"

    assert find_problem(content, ".svg")


def test_a_bundle_with_a_false_portrait_is_refused_by_its_name():
    assert refusal(members() | {"avatar.png": b"hello"}).message == (
        "Mira.lethe › avatar.png: is not an image of the type its name says"
    )
