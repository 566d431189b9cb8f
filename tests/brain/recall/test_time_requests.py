"""Who asks for the conversations of a time is heard; who only mentions one is not."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.brain.recall.time_requests import TimelineEnd, find_time_request
from tests.brain.memories import quick

TODAY = date(2026, 11, 20)
PRESENT = ("Mira", "Tomas")
ASKED = """\
Could you tell me what we spoke about on the 3rd of November?
yo what were we talkin about last night
I'd like to know what we discussed last week.
Do you recall our chat on the 12th?
do you remember yesterday?
so how was i yesterday
was i rude to you yesterday?
Did we have a conversation on November 5th?
what did you recommend me last week?
Look back at last Monday: what was I upset about?
Tell me everything I said on Oct 12.
Can we continue the story from last night?
What plans did I mention last weekend?
I can't remember what we talked about last night
What have I been telling you lately?
recap yesterday
What was my mood like in October?
i told you something yesterday. do you remember?
Was haben wir letzte Woche besprochen?
Wie ging es mir gestern?
De quoi avons-nous parlé lundi ?
¿Recuerdas lo que te conté la semana pasada?
昨日、何の話をしましたか？""".splitlines()
FIRST = ["Do you remember how we met?", "when did i first write to you?", "What was our very first conversation about?"]
LAST = ["What did we decide last time?", "Where did we leave off?", "how long ago did we last speak?", "recap our last chat"]
SILENT = """\
I was tired yesterday
see you on Monday
my exam is on May 2nd
I talked to my mom yesterday.
I told Sarah about it last week and she laughed
What did you do yesterday?
what happened to you last night?
tell me about your weekend
What did your sister do last week?
Guess what happened yesterday!
did i tell you what happened last night?
do you want to know what i did yesterday?
You won't believe what I did last weekend
What should I tell him about last night?
Do you remember that I have an exam on Monday?
remember to buy milk on monday
Remind me to call Nora on Monday
Our first date was two weeks ago!
the last time we spoke, my mother and I, we fought
last session with my therapist was intense
Last time I was there it rained.
I enjoyed our talk yesterday.
when is the meeting on Friday?
who won the match last night?
What was the weather like yesterday?
"Yesterday," he said, "we talked for hours."
What did I tell you about my sister?
gestern war ich müde
hier j'ai vu un renard
el lunes tengo examen
昨日は疲れた""".splitlines()


@pytest.mark.parametrize("text", ASKED)
def test_a_question_for_what_was_said_at_a_time_is_a_request(text: str):
    request = find_time_request(text, TODAY, PRESENT)

    assert request.times


@pytest.mark.parametrize("text", SILENT)
def test_a_message_that_only_mentions_a_time_is_none(text: str):
    assert find_time_request(text, TODAY, PRESENT) is None


@pytest.mark.parametrize(("texts", "edge"), [(FIRST, TimelineEnd.FIRST), (LAST, TimelineEnd.LAST)])
def test_the_first_and_the_last_conversation_are_times_too(texts: list[str], edge: TimelineEnd):
    for text in texts:
        request = find_time_request(text, TODAY, PRESENT)

        assert request is not None, text
        assert (request.edge, request.times) == (edge, ()), text


def test_what_the_conversation_was_about_is_part_of_the_request():
    request = find_time_request("Mira, when did we last talk about Porto?", TODAY, PRESENT)

    assert request.topic.names == {"porto"}


@quick
@given(st.text() | st.text("what did we talk about yesterday on the 2nd of may? \n.*"), st.dates())
def test_whatever_is_said_it_is_heard_out(text: str, today: date):
    find_time_request(text, today, PRESENT)
