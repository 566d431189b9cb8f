"""What people state as themselves is told apart from what they play, pass on, imagine or take back."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.brain.reading.dialogue_acts import read_parts
from tests.brain.conversations import PORTO, conversation, said

SCENE = "Mira: *The gate falls shut.* “You should not have come,” she says."


def plain(*lines: str) -> list[str]:
    """What Tomas states as himself."""
    parts = read_parts(conversation(*lines))
    return [part.plain for part, line in zip(parts, lines, strict=True) if line.startswith("Tomas: ")]


def outcome(*lines: str) -> list[str]:
    """What Tomas says and does in character."""
    parts = read_parts(conversation(*lines))
    return [part.in_character for part, line in zip(parts, lines, strict=True) if line.startswith("Tomas: ")]


def test_ordinary_talk_is_plain_to_the_last_word():
    parts = read_parts(PORTO)

    assert [part.plain for part in parts] == [line.text for line in PORTO]
    assert not any(part.in_character for part in parts)


@pytest.mark.parametrize(
    ("text", "own"),
    [
        (
            "*sits down* I had a long day at the hospital, I'm a nurse there",
            "I had a long day at the hospital, I'm a nurse there",
        ),
        ("*waves* hey, my sister Ana had her baby today", "hey, my sister Ana had her baby today"),
        ("*curls up on the couch with a blanket* I'm exhausted. Work was hell today", "I'm exhausted. Work was hell today"),
        ('*laughs* "My sister had her baby today!"', "My sister had her baby today!"),
        ("/me hugs Mira. My mom died two years ago.", "My mom died two years ago."),
        ("*pours the tea slowly and carefully* By the way, my cat Rex is ill.", "By the way, my cat Rex is ill."),
    ],
)
def test_who_acts_a_little_and_tells_of_themselves_speaks_plainly(text: str, own: str):
    assert plain(f"Tomas: {text}") == [own]


@pytest.mark.parametrize(
    "text",
    [
        "I draw my sword and face the dragon",
        "As the king of Eldoria I command you",
        "“Who goes there?” she said, raising her lantern.",
        "I am Sir Roderick, my lord. I have served the realm for two hundred years.",
        '*His hand shakes.* "I have a daughter, Claire. She is at college."',
        "I glance at you. I lower my blade.",
        "I'm a vampire, I was born in 1612",
        "I'm the duke's daughter and I demand half price",
        "*whispers to the merchant* my brother is a nurse, he can pay",
        '*salutes* aye captain. "I have a sister in Cork" says Ash solemnly',
    ],
)
def test_what_only_a_character_can_say_is_played(text: str):
    assert plain(f"Tomas: {text}") == [""]
    assert outcome(f"Tomas: {text}") != [""]


@pytest.mark.parametrize(
    "text",
    [
        "I love dragons, I have a whole shelf of fantasy books",
        "I open the bakery at five and I walk to work every day",
        "I take a nap every day",
        "I've been to the castle in Edinburgh with my dad",
        "I was a knight at the Halloween party",
        "You're a good friend and I'm a mess. My dad is in hospital",
        "My grandfather was a king in his own garden",
        "I love you, you're my favourite person and I'm lucky",
        "I'm an android developer at a small company",
        "I play in a band called The Orcs",
    ],
)
def test_what_only_sounds_like_a_story_is_plain(text: str):
    assert plain(f"Tomas: {text}") == [text]


def test_the_persona_never_makes_a_scene_of_what_the_user_says():
    lines = (
        "Mira: *She draws her sword.* “Kneel before your queen!”",
        "Tomas: haha. I have an exam on Friday",
        SCENE,
        "Tomas: My brother Nils is coming to visit",
    )

    assert plain(*lines) == ["haha. I have an exam on Friday", "My brother Nils is coming to visit"]


def test_in_a_scene_that_was_set_up_everything_is_played_until_it_ends():
    lines = (
        "Tomas: hey! let's play: you are a detective and I'm your suspect",
        "Mira: *lights a cigarette* Where were you last night?",
        "Tomas: At home with my wife. I work at the bank on Harbour Street.",
        "Tomas: ok that was fun. anyway, my exam is on Friday",
        "Tomas: my wife is a vet",
    )

    assert plain(*lines) == ["hey!", "", "ok that was fun. anyway, my exam is on Friday", "my wife is a vet"]
    assert outcome(*lines)[1] == "At home with my wife. I work at the bank on Harbour Street."


def test_a_part_beside_which_one_stays_oneself_is_no_cover():
    lines = ("Tomas: you're my girlfriend and I'm your boyfriend, ok?", "Tomas: my boss at the hospital yelled at me today")

    assert plain(*lines)[1] == "my boss at the hospital yelled at me today"


@pytest.mark.parametrize(
    "text",
    [
        "((my phone is at five percent))",
        "OOC: my phone is at five percent",
        "(ooc: my phone is at five percent)",
        "[OOC my phone is at five percent]",
        "// my phone is at five percent",
        "(my phone is at five percent)",
    ],
)
def test_marks_lead_out_of_a_scene(text: str):
    assert plain("Tomas: I draw my sword and face the dragon", SCENE, f"Tomas: {text} \n*raises his shield*") == [
        "",
        "my phone is at five percent",
    ]


def test_everyday_life_is_plain_also_in_the_middle_of_a_scene():
    lines = (
        "Tomas: *raises his shield* You burned my village, dragon.",
        SCENE,
        "Tomas: *lowers his sword* btw my sister is visiting on Friday",
        SCENE,
        "Tomas: *takes a step back* Then you leave me no choice.",
    )

    assert plain(*lines) == ["", "btw my sister is visiting on Friday", ""]


def test_a_scene_that_nobody_goes_on_with_is_over():
    lines = ("Tomas: I draw my sword and face the dragon", *["Tomas: that pasta looks so good"] * 4)

    assert plain(*lines)[-1] == "that pasta looks so good"


def test_after_hours_of_silence_no_scene_goes_on():
    lines = conversation("Tomas: wanna roleplay? you're the queen and I'm your guard.", "Tomas: I swear by the crown.")
    later = said("Tomas", "I burned the soup.", 2)

    parts = read_parts([*lines, replace(later, time=later.time + timedelta(hours=9))])

    assert (parts[1].plain, parts[2].plain) == ("", "I burned the soup.")


@pytest.mark.parametrize(
    "text",
    [
        "can you proofread my draft:\nI am a dedicated engineer with ten years of experience in Berlin.",
        "Summarise this: I was born in Porto and I have three sisters, said the mayor.",
        "translate: I live in Rome with my two dogs and my aunt",
        "here's my cover letter:\n\nI have worked at Siemens for nine years.",
        (
            "Dear Mr. Brown,\nI am writing to apply for the position. I worked at Siemens for years and speak Polish.\n"
            "Kind regards,\nAnna"
        ),
        "Interviewer: Where do you work?\nMe: I worked at Siemens.\nInterviewer: And why did you leave?\nMe: Money.",
        "```\nmy_sister = 'Siemens'\n```",
        "> I worked at Siemens for years",
        "♪ I have three sisters and they all live in Rome ♪",
        "- 2 tbsp oat bran, Siemens\n- 200 g flour\n- 1 cup milk",
        'my boss said "I worked at Siemens and I have three sisters" and left',
    ],
)
def test_what_is_only_passed_on_is_neither_plain_nor_played(text: str):
    (part,) = read_parts(conversation(f"Tomas: {text}"))

    for words in ("Siemens", "sisters", "Rome", "Berlin"):
        assert words not in part.plain + part.in_character


def test_a_long_text_after_a_request_or_unlike_all_else_is_pasted():
    article = "The council of Graz decided on Monday to build a new tram line through the old town. " * 8
    lines = ("Tomas: hi", "Tomas: can you summarise an article for me?", "Mira: Send it.", f"Tomas: {article}")

    assert plain(*lines)[-1] == ""
    assert plain("Tomas: hi!", "Tomas: look", f"Tomas: {article}")[-1] == ""


def test_a_long_message_about_oneself_is_ones_own():
    reported = "I work nights at the hospital and my wife works days, so we hardly see each other and I miss her. " * 6

    assert plain("Tomas: hi", f"Tomas: {reported}")[-1].split() == reported.split()


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("I'm 900 years old lol. just kidding, I'm 34.", "I'm 34"),
        ("I have three kids. jk", ""),
        ("I'm a vegetarian. I lied, I eat bacon sometimes", "I eat bacon sometimes"),
        ("I have a cat. I was born on a boat. I made that up!", "I have a cat."),
        ("My exam is on Thursday. no wait, that's wrong, it's Friday.", "My exam is on Friday."),
        ("My aunt has two dogs. wait no, three", "My aunt has three dogs."),
        ("I own a farm. not really lol", ""),
        ("Are you kidding? I live in Porto. no kidding, I do", "Are you kidding? I live in Porto. no kidding, I do"),
        ("I lied to my boss. I work at a bank.", "I lied to my boss. I work at a bank."),
    ],
)
def test_a_retraction_takes_back_the_statement_before_it(text: str, own: str):
    assert plain(f"Tomas: {text}") == [own]


def test_a_retraction_reaches_back_to_the_speakers_last_message():
    assert plain("Tomas: I have a farm in Kenya", "Mira: Wow, really?", "Tomas: not really, I live in Leeds with my cat") == [
        "",
        "I live in Leeds with my cat",
    ]
    assert plain("Tomas: My sister lives in Porto.", "Mira: Nice!", "Tomas: oh no wait, Lisbon") == [
        "",
        "My sister lives in Lisbon.",
    ]


def test_an_answer_or_a_contradiction_takes_nothing_back():
    assert plain("Tomas: I sold my car.", "Mira: Do you miss it?", "Tomas: not really")[0] == "I sold my car."
    assert plain("Tomas: I have a cat.", "Mira: You hate cats.", "Tomas: that's not true!")[0] == "I have a cat."


@pytest.mark.parametrize(
    "text",
    [
        "imagine I were a pilot",
        "If I had a dog I'd call it Rex",
        "I'd be happier if I lived by the sea",
        "what if I moved to Spain",
        "I dreamt that I had a daughter",
        "write me a story where I'm a pirate called Tom",
        "oh I just love waiting for three hours /s",
    ],
)
def test_what_is_imagined_is_no_statement(text: str):
    assert plain(f"Tomas: {text}. I have a cat.") == ["I have a cat."]


def test_a_figure_of_a_game_is_no_part_of_ones_life():
    assert plain("Tomas: In Skyrim I have a wife and a house. In real life I'm single") == ["In real life I'm single"]


def test_a_companion_speaks_for_itself_but_not_of_being_a_model_nor_as_another():
    lines = conversation(
        "Mira: As an AI language model, I don't have feelings. *She smiles.* I love the sea.",
        "Tomas: pretend you're a pirate called Flint",
        "Mira: Arr! I sailed from Tortuga.",
    )

    parts = read_parts(lines)

    assert (parts[0].plain, parts[0].in_character) == ("I love the sea.", "She smiles.")
    assert (parts[2].plain, parts[2].in_character) == ("", "Arr! I sailed from Tortuga.")


def test_other_languages_are_plain_unless_acted():
    assert plain("Tomas: Je suis infirmière à Lyon.", "Tomas: *winkt ihr zu* 我住在波尔图。") == [
        "Je suis infirmière à Lyon.",
        "我住在波尔图。",
    ]


@given(st.lists(st.tuples(st.sampled_from(["Tomas", "Mira"]), st.text(max_size=120)), max_size=6))
def test_any_text_can_be_read(lines: list[tuple[str, str]]):
    messages = [said(name, text, place) for place, (name, text) in enumerate(lines)]

    assert len(read_parts(messages)) == len(messages)


def test_one_figure_of_speech_begins_no_scene():
    lines = ("Tomas: The left ear is gone. Otherwise I am immortal.", "Mira: Good.", "Tomas: I have bought oat milk for Freya.")

    assert plain(*lines)[1] == "I have bought oat milk for Freya."


def test_speech_in_a_voice_put_on_is_in_character():
    text = (
        "*sits up, in a deep voice* I am Captain Ironbeard and I have nine wives! *giggles* sorry, that's how I read to Freya"
    )

    assert "nine wives" in outcome(f"Tomas: {text}")[0]
    assert "nine wives" not in plain(f"Tomas: {text}")[0]


def test_who_marks_what_is_out_of_character_plays_the_rest():
    text = "To the island, where I buried my own mother's silver. ((My mum died in May.))"

    assert plain(f"Tomas: {text}") == ["My mum died in May."]
