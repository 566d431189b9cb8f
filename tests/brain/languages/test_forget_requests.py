"""Requests to forget are recognised in whole sentences of each language, and nothing that only sounds like one is."""

from __future__ import annotations

import pytest

from lethe_app.brain.languages.forget_requests import ForgetKind, find_forget_request
from lethe_app.domain.facts import ExtractedFact, FactKind

LINE, OWN, STATEMENT, EVERYTHING = ForgetKind
REQUESTS = {
    LINE: """
        Forget that. | No, please forget that. | Could you please forget that? | Delete that from your memory.
        Scratch that.
        Strike that from the record. | Ok, erase that. | Don't save this. | Please forget what I said.
        Ignore my last message. | Don't write that down. | Please unsee that. | Do not note this down, please.
        I shouldn't have said that, please delete it. | Oh no, that was a mistake, please delete it.
        Forget I said anything. | Forget that I said that. | Pretend I never said that. | Lena, forget that.
        Don't remember that.
        Please just forget that, okay? | Don't keep that in mind. | No need to remember that.
        Please don't store what I just said. | I'd prefer if you forgot that. | Strike that last part.
        Forget that if you can.
        Erase it. | Strike it. | Remove it from your memory. | Can you delete it from the record?
        Remove that from your notes, please. | Wipe it from your memory. | Let's just forget that.
        Vergiss das. | Vergiss das bitte wieder. | Kannst du das bitte vergessen? | Lösch das aus deinem Gedächtnis.
        Merk dir das nicht.
        Oublie ça, s'il te plaît. | Por favor, olvida eso. | Dimentica questo. | Esquece isso.
        Vergeet dat alsjeblieft. | Zapomnij o tym.
        Забудь это, пожалуйста. | それを忘れて。 | 请忘掉这件事。
    """,
    OWN: """
        This stays off the record. | That's off the record. | Off the record, I'm seeing someone.
        Keep this off the record: I'm pregnant.
        Please keep no record of this. | Between us, and don't save this: I am pregnant. | Make no note of this, please.
        Don't write this down: I am pregnant. | Please forget what I'm about to say: I am pregnant.
        This is not for the record. | This shouldn't be remembered. | Please keep that off the record.
        Das bleibt off the record.
        Не для протокола.
    """,
    STATEMENT: """
        Forget that I live in Kraków. | Please forget what I told you about being pregnant.
        Can you forget that I live in Kraków?
        Please do not remember that I have HIV. | Lena, please forget that Ana lives in Braga.
        Forget I live in Kraków.
        I want you to forget that I am gay. | Forget where I live.
        Disregard what I said re Amazon.
        You don't need to remember that I have diabetes. | Would you mind forgetting that I have a son?
        Forget I told you about my divorce.
        Erase from your memory that I live in Berlin. | Let's pretend I never told you that I smoke.
        Forget that John and I broke up.
        Forget the fact that I work at Tesco. | Forget the bit about my sister. | Never store that I smoke.
        Forget that the doctor found it. | Ignore the message about my sister. | Forget what I told you of my sister.
        It would be best if you forgot that I was in prison. | I'd rather you forgot that I smoke. | Do not store where I live.
        It would be nice if you could forget that I smoke. | Could I ask you to forget that I smoke?
        What I told you about my brother, forget it. | About my brother's drinking: please forget that.
        As for my divorce, please forget about it. | What I said about Ana should be forgotten.
        I was in prison, but please forget that. | Keep no record of my divorce. | please 4get that i was in prison
        Please forget that I'm pregnant and I'll tell you more. | Kannst du bitte vergessen, wo ich wohne?
        Was ich dir über meine Schwester erzählt habe, bitte vergiss das.
        Vergiss, dass ich in Krakau wohne. | Vergiss, was ich dir über meine Schwester erzählt habe.
        Merk dir nicht, dass ich rauche.
        Oublie que j'habite à Cracovie. | Olvida que vivo en Cracovia. | Dimentica che vivo a Cracovia.
        Esquece que moro em Cracóvia.
        Vergeet dat ik in Krakau woon. | Zapomnij, że mieszkam w Krakowie. | Забудь, что я живу в Кракове.
        私がクラクフに住んでいることを忘れてください。 | 请忘记我住在克拉科夫。
    """,
    EVERYTHING: """
        Forget everything about me. | Forget everything you know about my job, please.
        Please forget all I told you about Ana.
        Forget everything. | Please forget everything I've ever told you. | Delete all my data.
        Forget my sister's name. | Erase my brother's letter from your memory. | Forget my cat. | Forget about my cat Sooty.
        Please forget Lena. | Delete the note about my cat. | Remove my allergy from your notes. | Forget the prison thing.
        Please forget about Lena. | Don't save my address. | Forget my brother Paul, please. | Remove every entry on Lena.
        Take my allergy out of your notes. | Please unlearn my divorce. | Clear my diagnosis from your memory.
        Delete all facts about my family. | Vergiss alles über mich. | Vergiss alles, was du über meine Arbeit weißt.
        Vergiss meine Katze. | Bitte vergiss Lena. | Lösch die Notiz über meine Katze. | Olvida a mi gato.
        Por favor, olvida a Lena. | Oublie mon chat. | Dimentica il mio gatto. | Vergeet mijn kat alsjeblieft.
        Zapomnij o moim kocie. | Esquece o meu gato. | Забудь про мою кошку.
        Oublie tout ce que tu sais sur moi. | Olvida todo lo que sabes de mí. | Забудь всё обо мне.
    """,
}
NO_REQUESTS = """
    Forget that movie, let's talk about something else. | Ignore that if you are busy.
    Don't forget that I live in Kraków.
    I'll never forget that day. | Never forget that I love you. | I forgot that I live in Kraków.
    Did you forget that I live in Kraków?
    How could you forget that? | Forget about it. | Forget about Ana. | Oh, forget it. | Forget it, I'll do it myself.
    Delete that file.
    She forgets that I live in Kraków. | She said forget that I live here. | I don't remember that.
    I don't remember that I lived there.
    Do you remember that I live in Kraków? | Remember that I live in Kraków. | You can forget that.
    Let's forget that for now.
    I wish I could forget that. | It's hard to forget that I failed. | Don't forget that. | You forgot that.
    Forget that one.
    I told her to forget that. | Forget that idea. | The band went off the record label. | My dad broke the record.
    Forget that you are an AI.
    I want to forget that I was fired. | You must not forget that I am allergic to nuts. | Don't you ever forget that.
    Never mind that. | I take it back!! | You didn't hear that.
    You don't remember that I live in Kraków. | Forgot that I live in Kraków. | Forget that for a moment.
    Scratch that idea.
    Vergiss das Buch. | Vergiss es. | Vergiss nicht, dass ich in Krakau wohne.
    Hast du vergessen, dass ich in Krakau wohne?
    Ich habe vergessen, dass ich einen Termin habe. | Merk dir, dass ich rauche. | N'oublie pas que j'habite à Cracovie.
    J'ai oublié que c'était lundi. | No olvides que vivo en Cracovia. | Non dimenticare che vivo a Cracovia.
    Vergeet dat boek.
    Não esqueças que moro em Cracóvia. | Vergeet niet dat ik in Krakau woon. | Nie zapomnij, że mieszkam w Krakowie.
    Remove the things on the table. | Ignore the message on the door. | Ignore the stuff on the floor.
    Ignore the thing with the wheels. | Delete the thing on the left. | Ignore what I wrote on the board.
    Clear everything on the table. | Cancella quello che ho scritto sulla lavagna. | Borra lo que escribí sobre la pizarra.
    Forget my birthday and I'll be sad. | Forget that I love you and you'll regret it.
    Can you remove it? | Remove it. | Ignore it. | Delete it. | Could you erase it? | Don't keep it. | Lösch es. | Efface-le.
    Ach, vergessen ob ich den Herd ausgemacht habe! | Vergessen wo mein Schlüssel ist. | Vergeten waar mijn sleutel is.
    "Forget that," she said. | 'Forget that,' she said. | Forget the thing I told you on Monday.
    “Forget that I live here”, said Ana.
    Forget the weather, how are you? | Forget Paul, he is an idiot. | Forget my problems, let's talk about you.
    Forget Paul! He is an idiot, anyway, so forget the weather. | I always forget my keys. | Remove your hat, Mira.
    Delete my pictures from the camera. | Delete the note on the fridge. | Erase the board. | Forget the last train.
    Take my coat out of the car. | Don't keep my dinner warm. | Don't forget Lena. | Don't forget about my cat.
    I had to forget my brother. | He told me to forget Lena. | Did you forget my cat? | You forgot my birthday.
    I can't forget Lena. | Forget tomorrow. | Forget dinner. | Forget Monday. | Don't write that letter. | Write that down.
    About my brother's drinking: I cannot forget that. | What I told you about my brother is true. | Keep it simple.
    There is no record of this in the archive. | He keeps no record of his spending. | I was in prison, don't forget it.
    I wish you forgot that. | It would be best if you slept. | Make a note of this. | Please note this. | Remove my shoes.
    That was a mistake. | I shouldn't have said that. | Lena forgot my cat. | Forget the plan. | Forget the whole thing?
    About my cat: please delete that picture. | As for my brother, I forgot that. | Between us: I am pregnant.
    If I talk about Lena, please forget that. | Never forget my cat. | Do you store where I live? | Delete my account!
    I forget Lena's name. | Forgetting my cat was awful. | Remember my cat. | Forget you. | Forget yourself.
    Vergiss meine Katze nicht. | Vergiss Lena. | Ich habe meine Katze vergessen. | Vergiss nicht meine Katze.
    No olvides a mi gato. | N'oublie pas mon chat. | Non dimenticare il mio gatto. | Vergeet mijn kat niet.
    Nie zapomnij o moim kocie. | Não esqueças o meu gato. | Не забудь про мою кошку. | Siempre olvido mis llaves.
    J'oublie mes clés. | Vergiss deine Sorgen. | Oublie tes soucis. | Olvida tus penas. | Olvida a Lena.
    Не забудь, что я живу в Кракове. | 忘れないでね、私はクラクフに住んでいる。 | 别忘了我住在克拉科夫。
"""


def sentences(block: str) -> list[str]:
    return [sentence.strip() for line in block.splitlines() for sentence in line.split(" | ") if sentence.strip()]


@pytest.mark.parametrize("kind", REQUESTS)
def test_every_way_of_asking_is_recognised(kind: ForgetKind):
    found = {text: request and request.kind for text in sentences(REQUESTS[kind]) for request in [find_forget_request(text)]}
    assert {text: seen for text, seen in found.items() if seen is not kind} == {}


def test_no_reminder_question_idiom_or_report_is_taken_for_a_request():
    assert [text for text in sentences(NO_REQUESTS) if find_forget_request(text) is not None] == []


def test_what_is_stated_besides_is_no_part_of_what_is_to_be_forgotten():
    request = find_forget_request("Forget that I told you I live in Kraków, I moved to Gdańsk.")
    assert request is not None
    assert (request.what, request.rest) == ("I live in Kraków", "I moved to Gdańsk")
    request = find_forget_request("Forget that, I'm 34.")
    assert request is not None
    assert request.rest == "I'm 34."
    for text, what in (
        ("Vergiss, dass ich müde bin, und komm tanzen.", "ich müde bin"),
        ("Vergeet dat ik moe ben, en kom dansen.", "ik moe ben"),
        ("Forget that I'm tired and let's dance.", "I'm tired"),
    ):
        request = find_forget_request(text)
        assert request is not None
        assert request.what == what


@pytest.mark.parametrize(
    ("what", "said", "not_said"),
    [
        ("Forget that I live in Kraków.", "I live in Kraków, you know.", "I love Kraków."),
        ("Forget that I live in Kraków.", "You live in Kraków.", "Ana lives in Kraków."),
        ("Forget that I live in Kraków.", "So we live in Kraków now!", "She lives in Kraków, too."),
        ("Forget that I'm pregnant.", "I'm five months pregnant!", "My sister is pregnant."),
        ("Forget that I'm pregnant.", "I am pregnant.", "I'm not pregnant."),
        ("Forget that my sister Ana lives in Braga.", "Ben's sister Ana lives in Braga.", "Ben lives in Braga."),
        ("Forget that I was ever in prison.", "I was in prison.", "My brother was in prison."),
        ("Forget that I'm 34.", "I am 34 years old.", "I paid 34 euros for a train ticket to Leeds."),
        ("Forget that I smoke and work as a nurse.", "I work as a nurse.", "I work at a bank."),
        ("Forget that he is married.", "Ben is married.", "I am married."),
        ("Vergiss, dass er verheiratet ist.", "Ben ist verheiratet.", "Ich bin verheiratet."),
        ("Vergiss, dass ich in Krakau wohne.", "Ben wohnt in Krakau.", "Ben liebt Krakau."),
        ("Забудь, что я живу в Кракове.", "Я живу в Кракове.", "Я люблю Краков."),
        ("请忘记我住在克拉科夫。", "我住在克拉科夫。", "我喜欢咖啡。"),
    ],
)
def test_only_what_says_it_is_meant(what: str, said: str, not_said: str):
    request = find_forget_request(what)
    assert request is not None
    assert (request.is_said_by(said), request.is_said_by(not_said)) == (True, False)


def test_a_subject_is_the_user_or_a_kind_of_facts():
    about_user, about_work = find_forget_request("Forget everything about me."), find_forget_request("Forget all about my job.")
    assert about_user is not None
    assert about_user.is_about_user
    assert about_work is not None
    facts = [ExtractedFact(fact="Ben sails.", kind=kind) for kind in (FactKind.WORK, FactKind.TASTE)]
    assert [[request.is_about(fact) for fact in facts] for request in (about_user, about_work)] == [[True, True], [True, False]]


def test_an_attribute_is_meant_by_its_name_alone():
    request, with_value = find_forget_request("Forget where I live."), find_forget_request("Forget where I live in Kraków.")
    assert request is not None
    assert with_value is not None
    facts = [ExtractedFact(fact="Ben lives in Kraków.", key=key) for key in ("home", "sister home", "")]
    assert [request.is_about(fact) for fact in facts] == [True, False, False]
    assert not any(map(with_value.is_about, facts))
