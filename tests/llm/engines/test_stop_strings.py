"""Stop strings in a stream."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lethe_app.llm.engines.stop_strings import StopStrings


def test_a_stop_string_split_over_pieces_is_found_and_never_shown():
    stops = StopStrings(("\nUser:",))

    shown = "".join(stops.feed(piece) for piece in ["Good night", ".\n", "Us", "er", ": hello"])

    assert shown == "Good night."
    assert stops.is_matched


def test_what_only_looked_like_a_stop_is_shown_after_all():
    stops = StopStrings(("\nUser:",))

    shown = "".join(stops.feed(piece) for piece in ["a\nUs", "ually"]) + stops.flush()

    assert shown == "a\nUsually"
    assert not stops.is_matched


@given(
    st.text("ab\n:", max_size=40),
    st.lists(st.text("ab\n:", min_size=1, max_size=4), max_size=3),
    st.lists(st.integers(1, 5), min_size=1),
)
def test_however_the_text_is_cut_the_result_is_that_of_the_whole(text: str, stops: list[str], sizes: list[int]):
    splitter = StopStrings(tuple(stops))
    shown, at, turn = "", 0, 0
    while at < len(text) and not splitter.is_matched:
        size = sizes[turn % len(sizes)]
        shown += splitter.feed(text[at : at + size])
        at, turn = at + size, turn + 1
    shown += splitter.flush()

    ends = [at for at in (text.find(stop) for stop in stops) if at >= 0]
    if not splitter.is_matched:
        assert not ends
        assert shown == text
    else:
        assert text.startswith(shown)
        assert len(shown) >= min(ends)
