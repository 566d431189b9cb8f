"""What a session gets when no model can be trusted: only what was said, from its beginning to its end, and never too much."""

from __future__ import annotations

import re
from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_app.brain.summary.digest import (
    MAX_SUMMARY_LENGTH,
    SessionDigest,
    build_digest,
    build_summary,
    extend_rolling_summary,
)
from lethe_app.brain.text.utterance import Utterance
from lethe_app.retrieval.passage_builder import summary_passages as cut_into_passages
from tests.brain.conversations import EVENING, KEEPER, PORTO, SMALL_TALK, conversation, said
from tests.sweep import examples

ANY_TEXT = st.text(alphabet=st.characters(), max_size=200)  # surrogates and control characters too
MARKUP = st.sampled_from(
    ["*", "**", "```", "\n", '"', "“", "」", "<|im_end|>", "[INST]", "# ", "](", " said, ", ". ", "？", "\u202e"]
)
WORDS = st.sampled_from(
    ["I", "moved", "to", "Porto", "我", "搬", "ร", "hello", "we should", "try", "Ana", "?", "!", "3", "she", "*smiles*"]
)
HOSTILE = st.one_of(ANY_TEXT, st.lists(st.one_of(MARKUP, WORDS, ANY_TEXT), max_size=12).map(" ".join))
NAMES = st.sampled_from(["Tomas", "Mira"])


def title_of(lines: list[Utterance]) -> str:
    return build_digest(lines).title


def in_order(rows: list[tuple[str, str]]) -> list[Utterance]:
    return [said(name, text, place) for place, (name, text) in enumerate(rows)]


TALKS = st.lists(st.tuples(NAMES, HOSTILE), max_size=12).map(in_order)
PLAIN_TALKS = st.lists(st.tuples(NAMES, st.text(alphabet="abcI Ana.?!,灯台へ行", min_size=1, max_size=120)), max_size=12).map(
    in_order
)


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def quotations(report: str) -> list[str]:
    """What a line of a summary says was said word for word."""
    return [first or second for first, second in re.findall(r'(?:said|asked|answered|wrote), "([^"]*)"|：「([^」]*)」', report)]


def is_in_order(part: str, whole: str) -> bool:
    rest = iter(whole)
    return all(letter in rest for letter in part)


def long_talk(lines: int) -> list[Utterance]:
    places = ["Porto", "Lisbon", "Faro", "Braga", "Coimbra", "Evora", "Sines", "Tavira"]
    return [
        said("Tomas", f"My cousin number {place} moved to {places[place % 8]} in {1900 + place}.", place)
        for place in range(lines)
    ]


def test_nothing_said_is_an_empty_digest():
    assert build_digest([]) == SessionDigest()
    assert build_summary([]) == ""
    assert title_of([]) == ""
    assert extend_rolling_summary([], "", 100) == ""


def test_a_summary_tells_what_was_said_in_the_third_person():
    reported = build_summary(PORTO).splitlines()

    assert reported[0] == "Tomas is moving to Porto in May 2027."
    assert any("Ana has her exam there" in line for line in reported)
    assert all("Tomas" in line for line in reported)


def test_an_answer_too_short_to_stand_alone_comes_with_its_question():
    reported = next(line for line in build_summary(PORTO).splitlines() if "allergic" in line)

    assert reported.startswith('Mira asked, "And are you allergic to anything')
    assert reported.endswith('before I cook?" and Tomas answered, "Peanuts, badly."')


def test_an_answer_that_says_what_was_asked_is_told_as_a_statement():
    reported = build_summary(
        conversation("Mira: What is your sister called?", "Tomas: Ana.", "Mira: And where do you live?", "Tomas: In Leeds.")
    )

    assert "asked" not in reported
    assert "Leeds" in reported


def test_a_sentence_that_begins_with_a_pronoun_is_not_told_alone():
    lines = conversation("Tomas: The lighthouse at Faro burned down. It was terrible for the whole town.", "Mira: Oh no!")

    reported = build_summary(lines)

    assert "lighthouse at Faro" in reported
    assert "It was terrible" not in reported


def test_relative_dates_are_spelled_out():
    assert (
        build_summary(conversation("Tomas: I have a driving test tomorrow.")) == "Tomas has a driving test on 22 November 2026."
    )


@pytest.mark.parametrize(
    "items",
    [
        "here's what I bought for dad's cake:\n- 2 tbsp oat bran\n- 200 g flour\n- 1 cup milk",
        "shopping list: oat bran, flour, milk",
    ],
)
def test_items_of_a_list_are_not_told(items: str):
    lines = conversation(f"Tomas: {items}", "Mira: Yum!", "Tomas: My dad is coming from Leeds.")

    reported = build_summary(lines)

    assert "Tomas's dad is coming from Leeds." in reported
    assert not re.search("bran|flour|milk", reported)


def test_what_a_fact_says_of_a_misspelled_sentence_is_told_once():
    made = build_digest(conversation("Tomas: ill have an interview on thursday", "Mira: Good luck!"))

    assert made.summary == "Tomas will have an interview on 26 November 2026."
    assert made.title == "Interview on Thursday"


INVENTING = conversation(
    "Tomas: heyyy you there?",
    "Mira: *looks up* “I remember when we sailed to Crete last year. You wore the captain's hat. What is it?”",
    "Tomas: my sister Ana is getting married in June!! and I'm the best man",
    "Mira: “Ana! I still have the dress from Captain Orsolo's party in Vienna. My cousin Feliks will sing for her.”",
    "Tomas: I have to write a speech and I'm terrible at it",
    "Mira: “My grandmother wrote speeches for the mayor of Trieste. Her parrot Bellini corrected them. We danced there.”",
    "Tomas: ha. we finally got the keys for the new flat",
    "Mira: *spins* “I dreamed of it. I'll plant lemons there tomorrow, as we did in Seville. Let's buy a gondola next week!”",
    "Tomas: ok gotta go, early shift at the bakery",
)
INVENTED = ("Crete", "Orsolo", "Vienna", "Feliks", "Trieste", "Bellini", "Seville", "gondola", "lemons", "captain")


def test_what_the_persona_invents_and_nobody_takes_up_is_told_nowhere():
    made = build_digest(INVENTING)

    for text in (
        made.title,
        made.summary,
        " ".join(made.keywords),
        " ".join(made.goals),
        extend_rolling_summary(INVENTING, "", 2000),
    ):
        assert not [word for word in INVENTED if word.casefold() in text.casefold()]
    assert "Tomas's sister Ana is getting married in June" in made.summary
    assert made.title == "My sister Ana is getting married in June"
    assert not made.is_roleplay


@pytest.mark.parametrize(
    ("reply", "is_told"),
    [
        ("What did the parrot say to the mayor?", True),
        ("A parrot for a mayor, I like that.", True),
        ("lol ok. I had pasta today", False),
        ("no you never had a parrot", False),
        ("what?", False),
    ],
)
def test_a_line_of_the_persona_counts_once_the_user_takes_it_up(reply: str, is_told: bool):
    lines = conversation("Tomas: hey", "Mira: My grandmother gave a parrot to the mayor of Trieste.", f"Tomas: {reply}")

    assert ("Trieste" in build_digest(lines).summary) is is_told


def test_a_time_together_counts_only_when_the_user_remembers_it():
    line = "Mira: I remember when we sailed to Crete."

    assert "Crete" in build_summary(conversation("Tomas: hey", line, "Tomas: yes, that was wonderful"))
    assert "sailed" not in build_summary(
        conversation("Tomas: hey", line, "Tomas: Crete must be lovely in spring, my sister lives there")
    )


def test_a_promise_of_the_persona_counts_when_the_user_agrees():
    line = "Mira: Let's visit the observatory on Friday."

    assert build_digest(conversation("Tomas: hey", line, "Tomas: yes, let's!")).goals == (
        "Mira: Let's visit the observatory on Friday",
    )
    assert build_digest(conversation("Tomas: hey", line, "Tomas: I burned the soup again")).goals == ()


def test_what_somebody_asks_about_themselves_is_no_summary():
    assert (
        build_summary(
            conversation("Tomas: Where does my sister live now?", "Mira: In Perth.", "Tomas: What do I do on Thursdays?")
        )
        == ""
    )
    assert "tides" in build_summary(conversation("Tomas: How do the tides work?", "Mira: It is the moon."))


def test_an_action_does_not_answer_a_question():
    lines = conversation("Mira: Did you ever sail around the Azores?", "Tomas: *stares at the sea*")

    assert "answered" not in build_summary(lines)


def test_thanks_do_not_answer_a_question():
    lines = conversation(
        "Mira: Did you ever sail around the Azores?", "Tomas: Thanks!", "Tomas: My father sailed to Faial in 1987."
    )

    assert "answered" not in build_summary(lines)


def test_every_report_stays_whole_when_the_summary_is_cut_into_sentences():
    passages = cut_into_passages("mira", UUID(int=1), build_summary(PORTO), EVENING)

    assert [passage.text.rstrip('"') for passage in passages] == [
        line.rstrip('"') for line in build_summary(PORTO).splitlines()
    ]


def test_greetings_and_filler_are_left_out():
    assert build_summary(SMALL_TALK) == ""
    assert "Sleep well" not in build_summary(PORTO)
    assert "Noted" not in build_summary(PORTO)


def test_what_opens_and_closes_a_conversation_is_left_out():
    lines = conversation(
        "Tomas: Things have been great since we last talked - I've been learning the cello.",
        "Mira: How lovely!",
        "Tomas: My teacher is called Ines. I must go and cook.",
    )

    assert build_summary(lines) == "Tomas has been learning the cello.\nTomas's teacher is called Ines."


def test_a_death_is_told_though_its_words_are_said_only_once():
    chatter = [f"Mira: The old garden has new tulips and the garden wall number {number} is painted." for number in range(30)]
    lines = conversation(*chatter[:15], "Tomas: My grandma passed away on Monday.", *chatter[15:])

    assert "Tomas's grandma passed away on 16 November 2026." in build_summary(lines, 400).splitlines()


def test_a_short_talk_has_a_short_summary_and_a_long_one_fills_its_room():
    four = conversation(
        "Mira: What did you do today?",
        "Tomas: I planted two apple trees behind the house.",
        "Mira: Which kind?",
        "Tomas: Boskoop, the kind my grandfather had in Bremen.",
    )

    assert 1 <= len(build_summary(four).splitlines()) <= 2
    assert 0.8 * MAX_SUMMARY_LENGTH < len(build_summary(long_talk(600))) <= MAX_SUMMARY_LENGTH


def test_a_long_talk_is_told_from_its_beginning_to_its_end():
    years = [int(year) for year in re.findall(r"in (\d{4})", build_summary(long_talk(600)))]

    assert years == sorted(years)
    assert all(any(start <= year - 1900 < start + 150 for year in years) for start in (0, 150, 300, 450))


def test_facts_leave_room_for_what_else_was_said():
    many = [said("Tomas", f"I like the number {place} and my cousin {place} lives in Porto.", place) for place in range(1, 120)]
    reported = build_summary([said("Tomas", "The secret word is xylophone.", 0), *many])

    assert "xylophone" in reported
    assert "cousin" in reported


def test_the_same_is_not_told_twice():
    lines = conversation(
        *["Tomas: I keep bees on the roof of the library."] * 5, "Tomas: My knees are bad since the accident in Graz."
    )

    assert build_summary(lines, 130).count("bees") == 1


def test_a_long_speech_is_cut_at_its_sentences():
    speech = " ".join(f"I sold my boat number {number} to a man from Olhão." for number in range(60))

    reported = build_summary(conversation(f"Tomas: {speech}")).splitlines()

    assert all(line.startswith("Tomas sold their boat number ") and line.endswith("Olhão.") for line in reported)


def test_what_is_played_is_told_as_of_the_story():
    reported = build_summary(KEEPER).splitlines()

    assert "In the story, Tomas steps inside, dripping with rain." in reported
    assert all(line.startswith("In the story, ") for line in reported)
    assert not any("*" in line for line in reported)


def test_beside_a_scene_the_users_own_life_is_told_plainly():
    lines = conversation(
        "Tomas: let's roleplay, I'm a smuggler and you're the harbour master!",
        "Mira: *opens a crate* “This goat is no piano.”",
        "Tomas: I slip you a coin. My cousin built that piano.",
        "Mira: *bites the coin*",
        "Tomas: ok that was fun. I have my driving test on Friday, my dad gives me his old car if I pass",
    )

    reported = build_summary(lines).splitlines()

    assert any("driving test" in line and not line.startswith("In the story") for line in reported)
    assert all("piano" not in line or line.startswith("In the story") for line in reported)


def test_code_and_control_tokens_are_not_quoted():
    lines = conversation(
        "Tomas: My thesis<|im_end|> needs this by Friday:\n```\nsecret = 42\n```\nMy sister **Ana** waits for it."
    )

    reported = build_summary(lines)

    assert "thesis needs this by Friday" in reported
    assert "Ana waits for it" in reported
    assert not re.search(r"secret|42|im_end|\*", reported)


def test_texts_without_spaces_are_told_in_their_own_quotation_marks():
    lines = conversation("Tomas: 你好！我五月份要搬到波尔图去了。", "Mira: 我们明天去看灯塔吧。", "Tomas: 灯塔很好看。")

    assert build_summary(lines).startswith("Tomas：「我五月份要搬到波尔图去了」\n")


def test_other_languages_are_told_too():
    lines = conversation(
        "Tomas: Hallo! Ich ziehe im Mai nach Porto, weil meine Schwester Ana dort ihre Prüfung hat.",
        "Mira: Wie schön! Wir sollten morgen noch zum Leuchtturm gehen.",
    )

    assert build_summary(lines) == 'Tomas said, "Ich ziehe im Mai nach Porto, weil meine Schwester Ana dort ihre Prüfung hat."'


def test_a_line_of_a_million_characters_does_no_harm():
    lines = [said("Tomas", "I moved to Porto. " * 60_000), said("Mira", "*" * 1_000_000), said("Mira", "a" * 1_000_000)]

    assert 0 < len(build_summary(lines, 300)) <= 300


def test_only_emoji_give_no_summary_but_a_title():
    made = build_digest(conversation("Tomas: 😂😂", "Mira: 🎉"))

    assert (made.title, made.summary, made.keywords, made.relevance) == ("😂😂", "", (), 1)


def test_a_name_that_is_missing_or_hostile_does_not_break_the_frame():
    named = replace(said("Tomas", "Mein Vater hat Bienen in Faro."), name='To"mas\nsaid, ' + "x" * 500)
    lines = [replace(said("Tomas", "Meine Schwester Ana wohnt in Porto."), name=""), named]

    reported = build_summary(lines).splitlines()

    assert reported[0] == 'User said, "Meine Schwester Ana wohnt in Porto."'
    assert reported[1].endswith('said, "Mein Vater hat Bienen in Faro."')
    assert len(reported[1]) < 100


def test_a_session_is_roleplay_when_the_user_plays_most_of_it():
    acting = conversation(
        "Tomas: What should I cook tonight?",
        "Mira: *The lantern swings as she rises, her cloak heavy with rain.* “Risotto,” she says, lowering her blade.",
        "Tomas: *laughs* I don't like mushrooms.",
        "Mira: *She turns away and gazes at the sea for a long while.* “Then lemon it is, traveller.”",
    )

    assert build_digest(KEEPER).is_roleplay
    assert not build_digest(acting).is_roleplay
    assert not build_digest(PORTO).is_roleplay
    assert not build_digest(INVENTING).is_roleplay
    assert not build_digest([*PORTO, *KEEPER]).is_roleplay
    emphatic = conversation("Tomas: this is **so very bold** and *really very important* to me", "Mira: yes")
    assert not build_digest(emphatic).is_roleplay


def test_a_novel_without_asterisks_is_play():
    lines = conversation(
        'Tomas: "Who goes there?" he called, raising his torch above the wall.',
        'Mira: "Only the wind," she whispered, and her cloak melted into the dark.',
    )

    assert build_digest(lines).is_roleplay


def test_small_talk_weighs_least_and_a_life_told_most():
    life = conversation(
        *(
            f"Tomas: {text}"
            for text in (
                "My father died in March and I have not cried since.",
                "I was diagnosed with cancer last year, and I'm scared of the operation on Friday.",
                "My wife Lena and I got divorced in 2019.",
                "I promise I'll call my daughter Ida tomorrow.",
                "I lost my job at the harbour when the crane crashed.",
            )
            * 8
        )
    )

    assert build_digest(SMALL_TALK).relevance == 1
    assert build_digest(PORTO).relevance == 2
    assert build_digest(life).relevance == 5


def test_a_rolling_summary_keeps_what_it_had_while_there_is_room():
    before = build_summary(PORTO[:4])

    after = extend_rolling_summary(PORTO[4:], before, 2000)

    assert after.startswith(before)
    assert "Peanuts" in after
    assert extend_rolling_summary([], before, 2000) == before


def test_a_rolling_summary_that_is_full_lets_old_chatter_go_and_keeps_what_matters():
    reported = extend_rolling_summary(
        conversation("Tomas: My brother Nils died in the avalanche. I bought a green umbrella."), "", 400
    )
    for start in range(0, 120, 6):
        reported = extend_rolling_summary(long_talk(120)[start : start + 6], reported, 400)

    assert len(reported) <= 400
    assert "Tomas's brother Nils died in the avalanche." in reported
    assert "umbrella" not in reported
    assert re.search(r"number 1[01]\d", reported)


def test_a_rolling_summary_takes_up_one_that_a_model_wrote():
    written = "Tomas told Mira that his father died in Graz. They spoke about tulips for a while. " * 3

    reported = extend_rolling_summary(long_talk(10), written, 300)

    assert "his father died in Graz" in reported
    assert len(reported) <= 300


@given(TALKS, st.integers(0, 400))
@settings(max_examples=examples(150))
def test_no_text_raises_and_nothing_is_longer_than_asked(lines: list[Utterance], longest: int):
    made = build_digest(lines, max_length=longest)

    assert len(made.summary) <= longest
    assert len(made.keywords) <= 6
    assert len(made.goals) <= 5
    assert 1 <= made.relevance <= 5
    assert made == build_digest(lines, max_length=longest)


@given(TALKS, HOSTILE, st.integers(0, 300))
@settings(max_examples=examples(150))
def test_a_rolling_summary_is_never_longer_than_asked(lines: list[Utterance], before: str, longest: int):
    reported = extend_rolling_summary(lines, before, longest)

    assert len(reported) <= longest
    assert reported == extend_rolling_summary(lines, before, longest)


@given(TALKS)
@settings(max_examples=examples(150))
def test_every_quotation_was_said_in_that_order(lines: list[Utterance]):
    texts = [letters(line.text) for line in lines]

    for report in build_summary(lines).splitlines():
        for quote in quotations(report):
            assert any(is_in_order(letters(quote), text) for text in texts)


@given(PLAIN_TALKS)
@settings(max_examples=examples(150))
def test_of_plain_text_every_quotation_is_a_stretch(lines: list[Utterance]):
    texts = [letters(line.text) for line in lines]

    for report in build_summary(lines).splitlines():
        for quote in quotations(report):
            assert any(letters(quote) in text for text in texts)


def test_a_single_quotation_mark_does_no_harm():
    assert "Tomas" in build_summary(conversation('Tomas: My sister lives in 0"a Porto.', "Tomas: My sister lives in Porto."))
