"""Half a year of talks between Robin and Mira, and what Robin asks about them on the evening of Friday, 20 November 2026.

Of a request, `wanted` are the talks it may bring, by the day on which they began; none means that there was no talk then.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

NOW = datetime(2026, 11, 20, 19, 30).astimezone()


@dataclass(frozen=True)
class Talk:
    """One conversation: the user's lines and the replies in turn."""

    began: str
    title: str
    lines: tuple[str, ...]

    @property
    def key(self) -> str:
        return self.began[:5]


@dataclass(frozen=True)
class Request:
    """What is asked, and the talks it is about."""

    kind: str
    text: str
    wanted: tuple[str, ...]


TALKS = [
    Talk(began, title, tuple(lines))
    for began, title, *lines in json.loads((Path(__file__).parent / "half_year.json").read_text(encoding="utf-8"))
]

_EXACT = [
    ("What did we talk about on June 2nd?", "06-02"),
    ("what did we talk about on 11 june", "06-11"),
    ("do you remember what i told you on July 9?", "07-09"),
    ("What was our conversation on August 19th, 2026 about?", "08-19"),
    ("what did i say on 09/21?", "09-21"),
    ("remind me what we discussed on the 5th", "11-05"),
    ("What were we talking about on the 13th of September?", "09-13"),
    ("and what did i tell you on oct 17th", "10-17"),
    ("Can you summarise our chat from 2026-10-23?", "10-23"),
    ("what did we chat about on 2 oct?", "10-02"),
    ("which things did I tell you on the night of May 29th?", "05-29"),
    ("What did we speak about on the 10th of October?", ""),
    ("did we talk on June 30?", ""),
    ("on aug 14, what was i so angry about?", "08-14"),
    ("what happened on halloween?", "10-31"),
]
_NEAR = [
    ("what did we talk about yesterday?", "11-19"),
    ("what did i tell you yesterday evening", "11-19"),
    ("What did we talk about the day before yesterday?", ""),
    ("what was it i told you three days ago?", "11-17"),
    ("what did we talk about last Monday", "11-16 11-09"),
    ("What did I tell you on Tuesday?", "11-17"),
    ("do you still know what i said last friday?", "11-13"),
    ("what did i say this morning?", "11-20"),
    ("what did we talk about last night?", "11-19"),
    ("hey, what were we chatting about on sunday?", "11-15"),
    ("Yesterday I told you about an offer. What was it again?", "11-19"),
    ("what did I tell you 5 days ago", "11-15"),
    ("remember what i told you a week ago today?", "11-13"),
    ("did i tell you anything on wednesday?", ""),
    ("i forgot what we talked about on thursday", "11-19"),
]
_SPANS = [
    ("What did we talk about last week?", "11-09 11-13 11-15"),
    ("what did we talk about two weeks ago?", "11-02 11-05 11-07 11-09"),
    ("What have we talked about this week?", "11-17 11-19 11-20"),
    ("what did i tell you last weekend", "11-15"),
    ("What did I tell you in May?", "05-18 05-20 05-25 05-29"),
    ("what was going on with me in late june", "06-21 06-24"),
    ("what did we talk about last month?", "10-02 10-06 10-12 10-17 10-23 10-31"),
    ("give me a recap of september please", "09-01 09-05 09-10 09-13 09-21 09-26"),
    ("what did I tell you in the first week of July?", "07-01 07-04"),
    ("what were we talking about a couple of weeks ago?", "11-02 11-05 11-07 11-09"),
    ("what did we discuss between August 18th and August 24th?", "08-19 08-23"),
    ("what did i do over the summer?", " ".join(talk.key for talk in TALKS if "06-01" <= talk.key < "09-01")),
    ("what did i say the other day about the shoes?", "11-17"),
    ("What did we talk about three months ago?", "08-08 08-14 08-19 08-23 09-01"),
    ("Can you recap the last few days for me?", "11-17 11-19 11-20"),
]
_ENDS = [
    ("What did we talk about last time?", "11-20"),
    ("do you remember our first conversation?", "05-18"),
    ("how did we meet?", "05-18"),
    ("what was our last conversation about", "11-20"),
    ("Where did we leave off?", "11-20"),
    ("what was the first thing I ever told you?", "05-18"),
    ("Do you remember when we first talked?", "05-18"),
    ("let's pick up where we left off last time", "11-20"),
    ("summarize our last chat", "11-20"),
    ("What did I tell you the time before last?", "11-19"),
    ("when did we first meet?", "05-18"),
    ("what happened in our previous session?", "11-20"),
    ("when did we last talk?", "11-20"),
    ("What did you say to me the first time we spoke?", "05-18"),
    ("i can't remember what we talked about last time", "11-20"),
]
_TOPICS = [
    ("When did we last talk about Nora?", "10-23"),
    ("the last time we talked about marcus, what did i say?", "11-13"),
    ("When did I first mention Marcus?", "11-07"),
    ("what did i tell you the last time i talked about priya?", "10-31"),
    ("When was the first time I told you about the driving lessons?", "09-05"),
    ("what did we say about the marathon last time we discussed it?", "11-17"),
    ("Do you remember the first time I mentioned Biscuit?", "05-18"),
    ("when did we last speak about the matron?", "11-09"),
    ("what did I tell you about the interview in June?", "06-02"),
    ("What did I say about Priya in August?", "08-14"),
    ("what did i tell you about the vet in july?", "07-09"),
    ("What did I tell you about the test on September 21st?", "09-21"),
    ("and what did i say about the wedding in september?", "09-26"),
    ("What did I tell you about Iris last month?", "10-23"),
    ("what did i tell you about the dentist in august", "08-03"),
]
_SELF = [
    ("How was I feeling on June 24th?", "06-24"),
    ("how was i last week?", "11-09 11-13 11-15"),
    ("How was I doing in early September?", "09-01 09-05 09-10"),
    ("how did i feel on the 9th?", "11-09"),
    ("was I happy on October 23?", "10-23"),
    ("what was i worried about on 9 July?", "07-09"),
    ("what did I do on Saturday, September 26th?", "09-26"),
    ("How have I been lately?", "11-07 11-09 11-13 11-15 11-17 11-19 11-20"),
    ("what was i up to in the middle of october?", "10-12 10-17"),
    ("why was I so sad on June 24?", "06-24"),
    ("what mood was i in yesterday", "11-19"),
    ("How did I seem to you last Sunday?", "11-15"),
    ("Where was I on the 17th of October?", "10-17"),
    ("what did i eat on june 6th?", "06-06"),
    ("What was on my mind last Thursday?", "11-19 11-12"),
]
_MIXED = [
    ("i told you something on the 2nd. do you remember?", "11-02"),
    ("Hey Mira! Long day. So, what did we talk about yesterday?", "11-19"),
    ("what'd i say on monday the 9th?", "11-09"),
    ("Let's continue our talk from last night.", "11-19"),
    ("Worüber haben wir gestern gesprochen?", "11-19"),
    ("Was habe ich dir am 9. Juli erzählt?", "07-09"),
    ("De quoi avons-nous parlé la dernière fois ?", "11-20"),
    ("qu'est-ce que je t'ai dit hier ?", "11-19"),
    ("¿De qué hablamos ayer?", "11-19"),
    ("¿Te acuerdas de nuestra primera conversación?", "05-18"),
    ("昨日何を話したっけ？", "11-19"),
    ("10月23日に何を話した？", "10-23"),
    ("wie ging es mir letzte Woche?", "11-09 11-13 11-15"),
    ("what did you tell me to do about the curtains in may?", "05-20"),
    ("tell me what i said on the 7th of november", "11-07"),
]
REQUESTS = [
    Request(kind, text, tuple(wanted.split()))
    for kind, rows in (
        ("exact day", _EXACT),
        ("near day", _NEAR),
        ("span", _SPANS),
        ("first and last", _ENDS),
        ("topic", _TOPICS),
        ("how I was", _SELF),
        ("mixed", _MIXED),
    )
    for text, wanted in rows
]

ORDINARY = """\
I was tired yesterday
see you on Monday
my exam is on May 2nd
yesterday was the worst
What did you do yesterday?
How was your day yesterday?
what should i wear on monday?
Guess what happened yesterday!
did i tell you what happened last night? so marcus calls
can i tell you about my weekend?
Last time I was in Edinburgh it rained too.
the last time i saw my dad he had a beard
we talked about it at work last week and nobody agreed
Remind me to call Nora on Monday
My first conversation with the new boss went well.
It was the first time we went to Paris.
i'll tell you tomorrow how it went
are we still on for monday?
what are you doing this weekend?
I enjoyed our talk yesterday.
Three days ago I lost my keys and today I found them in the fridge.
In May I'm going to Rome.
we moved here two weeks ago
did you sleep well last night?
What's the weather like this morning?
good morning! what a week
happy halloween!
we first met at the bakery, marcus and me
on the 2nd I have to be at the dentist
He told me yesterday that he quits.
what do you think about last night's game?
should i tell her on friday or wait until monday?
Since last summer my knee hurts.
i started knitting in october
her birthday was on November 3rd and i forgot
the meeting on Tuesday was moved to Thursday
how do you feel this morning?
I said it last week and I'll say it again: no more meetings
who won the match last night?
Will it snow this weekend?
the day before yesterday i couldn't even stand up
so anyway, yesterday iris smiled at me for the first time
I didn't sleep at all last night
what time is the film on saturday?
last week was hell, this one is better
do you want to know what i did yesterday?
remember to breathe, that's what she said yesterday
*She looks at the calendar.* It is the 20th already.
my last conversation with the landlord was two months ago
when is your birthday?""".splitlines()
