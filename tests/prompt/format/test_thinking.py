from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.prompt.format.thinking import MARKERS, ThinkingSplitter, close_thought, opens_thought
from lethe_app.prompt.speaker_labels import LabelFilter

HARMONY = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes."


def split(*pieces: str, starts: bool = False, start: str = "", end: str = "") -> tuple[str, str, ThinkingSplitter]:
    splitter = ThinkingSplitter(starts_in_thought=starts, start=start, end=end, labels=LabelFilter(("Mira",), ("Ann",)))
    parts = [*(splitter.feed(piece) for piece in pieces), splitter.finish()]
    said = ""
    for part in parts:
        said = part.answer if part.is_correction else said + part.answer
    return "".join(part.thought for part in parts), said, splitter


@pytest.mark.parametrize("pair", MARKERS, ids=lambda pair: pair.start)
def test_every_pair_of_markers_is_known(pair):
    assert split(f"\n{pair.start}\nHm, so.\n{pair.end}\n\nHello.")[:2] == ("Hm, so.", "Hello.")


def test_plain_replies_pass_through_untouched():
    assert split("  Hello", " <b>", "\n")[:2] == ("", "  Hello <b>\n")


def test_only_a_leading_marker_counts():
    text = "I wrote <think>this</think> in the margin."

    assert split(text)[:2] == ("", text)


@pytest.mark.parametrize(
    ("text", "thought", "said"),
    [
        ("</think>Hello.", "", "Hello."),
        ("\n</Think>\n\nHello.", "", "Hello."),
        ("She is sad.</think>Hello.", "She is sad.", "Hello."),
        ("She is sad.\n</THINK>\nHello.", "She is sad.", "Hello."),
        ("She is sad.[/THINK]Hello.", "She is sad.", "Hello."),
        ("She is sad.<|channel|>final<|message|>Hello.", "She is sad.", "Hello."),
        ("Hello.</think>", "", "Hello."),
        ("Hello.\n</think>", "", "Hello.\n"),
        ("<think>a</think></think>Hello.", "a", "Hello."),
        ("<THINK>a</think>Hello.", "a", "Hello."),
        ("<analysis>a</analysis>Hello.", "a", "Hello."),
        ("<Analysis>\na\n</ANALYSIS>\nHello.", "a", "Hello."),
        ("<think>a</think>\n\n<think>b</think>Hello.", "a\n\nb", "Hello."),
        ("<think>a</think><reasoning>b</reasoning>Hello.", "a\n\nb", "Hello."),
        ("<think>a</think>Hello.\n\n<think>b</think>\n\nBye.", "a\n\nb", "Hello.\n\nBye."),
        ("<think>a</think>Hello, <think>b</think>you.", "a\n\nb", "Hello, you."),
        ("Hello.\n<think>b</think>\nBye.", "b", "Hello.\nBye."),
        ("Hello.\n<think>b, and", "b, and", "Hello.\n"),
        ("<think>a</think>Write <think> first.", "a", "Write <think> first."),
        ("Mira: <think>a</think>Hello.", "a", "Hello."),
        ("**Mira:**\n<think>a</think>\nMira: <think>b</think>Hello.", "a\n\nb", "Hello."),
        ("Mira: </think>Hello.", "", "Hello."),
        ("Mira: Hello.", "", "Mira: Hello."),
        ("Mira: <third>", "", "Mira: <third>"),
        ("It ends with `</think>`, always.", "", "It ends with `</think>`, always."),
        ("```\n<think>\nx</think>\n```\nSo.", "", "```\n<think>\nx</think>\n```\nSo."),
    ],
)
def test_markers_in_other_places(text: str, thought: str, said: str):
    for pieces in ([text], list(text), *([text[:place], text[place:]] for place in range(1, len(text)))):
        assert split(*pieces)[:2] == (thought, said), pieces


def test_a_reply_may_start_inside_a_thought():
    assert split("so she is sad.\n</think>\n\nPoor you.", starts=True)[:2] == ("so she is sad.", "Poor you.")
    assert split("<think>\nso.</think>Poor you.", starts=True)[:2] == ("so.", "Poor you.")
    assert split("</think>Poor you.", starts=True)[:2] == ("", "Poor you.")


def test_an_unclosed_thought_is_told_and_can_serve_as_the_reply():
    thought, said, splitter = split("<think>She never", " came back.")

    assert (thought, said) == ("She never came back.", "")
    assert splitter.only_thought == "She never came back."


def test_a_reply_with_words_does_not_offer_its_thought():
    assert split("<think>a</think>b")[2].only_thought == ""
    assert split("a</think>b")[2].only_thought == ""
    assert split("<think>a</think>")[2].only_thought == "a"


def test_ones_own_pair_of_markers_is_added():
    assert split("<<inner>>a<</inner>>b", start="<<inner>>\n", end="<</inner>>")[:2] == ("a", "b")


def test_an_answer_header_without_thought_is_dropped():
    assert split("<|channel|>final<|message|>Yes.")[:2] == ("", "Yes.")


def test_what_looks_like_a_marker_and_is_none_is_said():
    assert split("<thi", "rd> option")[:2] == ("", "<third> option")
    assert split("<thin")[:2] == ("", "<thin")


replies = st.sampled_from(
    [
        "a</think>b <think>c</think>",
        "Mira: <THINK>a</think>\n<think>b</think>\nc\n<think>d",
        "```<think></think>",
        HARMONY,
        "<think>a b\n\n c</think>\n\n said",
        "[THINK]</x [/THINK]ok",
        "no thought",
        "<think>",
        "<think>open </thin",
        " ",
    ]
)


@given(reply=replies, cuts=st.lists(st.integers(0, 90)), starts=st.booleans())
def test_it_does_not_matter_how_a_reply_is_cut_into_pieces(reply: str, cuts: list[int], starts: bool):
    places = sorted({0, len(reply), *(cut for cut in cuts if cut < len(reply))})
    pieces = [reply[a:b] for a, b in itertools.pairwise(places)]

    assert split(*pieces, starts=starts)[:2] == split(reply, starts=starts)[:2]


@given(reply=st.text("<think>/ a\n[THINK]|", max_size=40))
def test_nothing_but_markers_and_blanks_is_lost(reply: str):
    thought, said, _ = split(*reply)

    if not thought:
        assert said.strip() in reply
    if not reply.lstrip().startswith(("<think", "[THINK]")):
        assert said == reply


def test_a_prompt_that_opens_a_thought_is_noticed_and_closed():
    assert opens_thought("…<|im_start|>assistant\n<think>\n")
    assert not opens_thought("…<think>\n\n</think>\n\n")
    assert close_thought("…assistant\n<think>\n", "</think>") == "…assistant\n<think>\n\n</think>\n\n"
    assert close_thought("…assistant\n", "</think>") == "…assistant\n"
    assert close_thought("<|start|>assistant", "x") == "<|start|>assistant<|channel|>final<|message|>"
