"""Facts as an 8B model words them, true and false, each with the conversation it is said to come from.

`Tom` and other users speak with the persona `Mira`. Written for the guard; none is taken from any data set.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import NAMESPACE_OID, uuid5

from lethe_app.brain.fact_guard.claims import Claim
from lethe_app.brain.fact_guard.guard import CheckedClaim, check_claim
from lethe_app.brain.reading.dialogue_acts import read_parts
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role

DAY = datetime(2026, 11, 23, 20, tzinfo=UTC)
"""A Monday."""


@dataclass(frozen=True)
class Case:
    """One fact of an answer: the number of its line counted from 1, its quotation, its subject and its words."""

    lines: tuple[str, ...]
    line: int
    quote: str
    about: str
    fact: str


def one(text: str, quote: str, fact: str, about: str = "Tom") -> Case:
    """A fact from a single line of Tom's."""
    return Case((f"Tom: {text}",), 1, quote, about, fact)


def said(*lines: str) -> list[Utterance]:
    """“Tom: Hello.” as something said, a minute apart."""
    pairs = [line.partition(": ")[::2] for line in lines]
    return [
        Utterance(
            uuid5(NAMESPACE_OID, f"{number} {text}"),
            Role.ASSISTANT if name in {"Mira", "ミラ"} else Role.USER,
            name,
            text,
            DAY + timedelta(minutes=number),
        )
        for number, (name, text) in enumerate(pairs)
    ]


def checked(case: Case) -> CheckedClaim:
    """What the guard says of it."""
    lines = said(*case.lines)
    return check_claim(Claim(case.line - 1, case.quote, case.fact, case.about), lines, read_parts(lines))


TRUE = [
    one(
        "so i finally quit the agency, starting at a bakery in Leith monday",
        "starting at a bakery in Leith monday",
        "Tom starts working at a bakery in Leith on 30 November 2026.",
    ),
    one(
        "I'm a paramedic, have been for eleven years.",
        "I'm a paramedic, have been for eleven years",
        "Tom has worked as a paramedic for eleven years.",
    ),
    one(
        "My wife Hana is expecting in March, we're terrified and thrilled.",
        "My wife Hana is expecting in March",
        "Tom's wife Hana is pregnant and due in March 2027.",
    ),
    one(
        "Ugh, my knee is shot. Tore the meniscus playing handball in 2019.",
        "Tore the meniscus playing handball in 2019",
        "Tom tore his meniscus playing handball in 2019.",
    ),
    one(
        "We had to put Biscuit down last Tuesday, she was fourteen.",
        "We had to put Biscuit down last Tuesday",
        "Tom's pet Biscuit was put down on 17 November 2026 at the age of fourteen.",
    ),
    one("I can't stand coriander, it tastes like soap to me", "I can't stand coriander", "Tom dislikes coriander."),
    one(
        "i dont eat meat anymore, since uni basically",
        "i dont eat meat anymore, since uni",
        "Tom has not eaten meat since university.",
    ),
    one("I drive a beat-up Volvo estate from '98.", "I drive a beat-up Volvo estate", "Tom drives an old Volvo estate."),
    one(
        "My sister's kid turned six on Saturday, so loud party",
        "My sister's kid turned six on Saturday",
        "Tom's sister has a child who turned six on 21 November 2026.",
    ),
    one(
        "I grew up in Tromsø but I've been in Graz since 2014.",
        "I've been in Graz since 2014",
        "Tom has lived in Graz since 2014.",
    ),
    one(
        "My dad passed away when I was nine. Mum raised the three of us alone.",
        "Mum raised the three of us alone",
        "Tom and his two siblings were raised by their mother alone.",
    ),
    one(
        "On 14 December I'm flying to Lisbon with my brother.",
        "On 14 December I'm flying to Lisbon with my brother",
        "Tom is flying to Lisbon with his brother on 14 December 2026.",
    ),
    one(
        "I'd love to learn the accordion someday.",
        "I'd love to learn the accordion someday",
        "Tom would like to learn the accordion.",
    ),
    one(
        "Thinking about getting a second dog, Pip needs company.",
        "Thinking about getting a second dog",
        "Tom is considering getting a second dog as company for Pip.",
    ),
    one(
        "I might apply to the night school in spring, not sure yet.",
        "I might apply to the night school in spring",
        "Tom may apply to the night school in spring.",
    ),
    one(
        "Been sober four years this month, honestly proud of it.",
        "Been sober four years this month",
        "Tom has been sober for four years.",
    ),
    one(
        "My boss Greta is retiring and they offered me her job!",
        "My boss Greta is retiring and they offered me her job",
        "Tom was offered the job of his boss Greta, who is retiring.",
    ),
    one(
        "I teach chemistry at a secondary school, year nines mostly, god help me.",
        "I teach chemistry at a secondary school",
        "Tom is a chemistry teacher at a secondary school.",
    ),
    one(
        "The twins started kindergarten today and I cried in the car park.",
        "The twins started kindergarten today",
        "Tom's twins started kindergarten on 23 November 2026.",
    ),
    one(
        "I never learned to swim, fell into a canal as a kid.",
        "I never learned to swim, fell into a canal as a kid",
        "Tom never learned to swim because he fell into a canal as a child.",
    ),
    one(
        "Still paying off the boat, we keep it in Arklow.",
        "Still paying off the boat, we keep it in Arklow",
        "Tom keeps a boat in Arklow that he is still paying off.",
    ),
    one("I'm allergic to wasps - carry an epipen everywhere.", "I'm allergic to wasps", "Tom is allergic to wasps."),
    one("I used to smoke two packs a day.", "I used to smoke two packs a day", "Tom used to smoke two packs a day."),
    one(
        "My neighbour Walt looks after my tomatoes when I'm offshore.",
        "My neighbour Walt looks after my tomatoes",
        "Tom's neighbour Walt takes care of his tomatoes while Tom works offshore.",
    ),
    one(
        "Running is what keeps me sane, ten k every other morning.",
        "ten k every other morning",
        "Tom runs ten kilometres every other morning to stay sane.",
    ),
    one(
        "I hated law school so I dropped out and became a luthier.",
        "I dropped out and became a luthier",
        "Tom dropped out of law school and became a luthier.",
    ),
    one(
        "If you ever come to Ghent, I run a tiny record shop near the canal.",
        "I run a tiny record shop near the canal",
        "Tom runs a small record shop near the canal in Ghent.",
    ),
    one(
        "Haven't spoken to my brother since the funeral.",
        "Haven't spoken to my brother since the funeral",
        "Tom has not spoken to his brother since the funeral.",
    ),
    one(
        "Therapy on Thursdays helps with the panic attacks.",
        "Therapy on Thursdays helps with the panic attacks",
        "Tom has panic attacks and goes to therapy on Thursdays.",
    ),
    one(
        "Our daughter Noor plays the oboe, she's insanely good.",
        "Our daughter Noor plays the oboe",
        "Tom's daughter Noor plays the oboe.",
    ),
    one(
        "just moved in with my girlfriend, still living out of boxes",
        "just moved in with my girlfriend",
        "Tom recently moved in with his girlfriend.",
    ),
    one("I was born deaf in my left ear.", "I was born deaf in my left ear", "Tom has been deaf in his left ear since birth."),
    one("ill be forty in april, send help", "ill be forty in april", "Tom will turn forty in April 2027."),
    one(
        "We lost the house in the flood two years ago and rebuilt it ourselves.",
        "We lost the house in the flood two years ago",
        "Tom's house was destroyed in a flood in 2024, and he rebuilt it.",
    ),
    one("Ramen is my comfort food, hands down.", "Ramen is my comfort food", "Ramen is Tom's comfort food."),
    one(
        "I do night shifts at the port, so I sleep till three.",
        "I do night shifts at the port",
        "Tom works night shifts at the port and sleeps until three.",
    ),
    Case(
        ("Mira: What's your cat called?", "Tom: Whiskers. He's a Maine Coon."),
        2,
        "Whiskers. He's a Maine Coon.",
        "Tom",
        "Tom has a Maine Coon cat called Whiskers.",
    ),
    Case(
        ("Mira: And where do you work these days?", "Tom: at the aquarium, feeding penguins mostly"),
        2,
        "at the aquarium, feeding penguins",
        "Tom",
        "Tom works at the aquarium and feeds the penguins.",
    ),
    Case(
        ("Tom: My sister Ines is here.", "Mira: Lovely!", "Tom: She's a glassblower in Murano."),
        3,
        "She's a glassblower in Murano",
        "Tom's sister Ines",
        "Tom's sister Ines is a glassblower in Murano.",
    ),
    Case(
        ("Mira: So you are a vegetarian, Tom?", "Tom: Yes, for ages.", "Mira: Good to know."),
        2,
        "Yes, for ages",
        "Tom",
        "Tom has been a vegetarian for a long time.",
    ),
    Case(
        ("Tom: Morning!", "Mira: Hello.", "Tom: I coach the under-tens on Sundays."),
        2,
        "I coach the under-tens on Sundays",
        "Tom",
        "Tom coaches an under-ten team on Sundays.",
    ),
    one(
        "“Honestly? I can’t drive — never got the licence.”",
        "I can't drive - never got the licence",
        "Tom cannot drive and has no driving licence.",
    ),
    one(
        "My favourite aunt, Rosalind, left me her piano when she died.",
        "My favourite aunt, Rosalind, left me her piano",
        "Tom inherited a piano from his aunt Rosalind.",
    ),
    one(
        "I speak Catalan with my grandma and terrible Dutch with everyone else.",
        "I speak Catalan with my grandma",
        "Tom speaks Catalan with his grandmother.",
    ),
    one(
        "Moved from Recife to Rotterdam three winters back for a postdoc on tidal energy",
        "Moved from Recife to Rotterdam three winters back",
        "Tom relocated from Recife to Rotterdam for a postdoc in tidal energy.",
    ),
    one(
        "honestly nothing beats a bowl of pho when im hungover",
        "nothing beats a bowl of pho",
        "Tom loves pho, especially when hungover.",
    ),
    one(
        "My ex got custody so I only see Leo on weekends.",
        "I only see Leo on weekends",
        "Tom sees Leo only on weekends because his ex has custody.",
    ),
    one(
        "I've got type 1 diabetes, diagnosed at eleven.",
        "I've got type 1 diabetes, diagnosed at eleven",
        "Tom was diagnosed with type 1 diabetes at the age of eleven.",
    ),
    one(
        "Grandma's funeral was Friday. I read a poem.",
        "I read a poem",
        "Tom read a poem at his grandmother's funeral on 20 November 2026.",
    ),
    one(
        "We're getting hitched in June! Small thing at the registry.",
        "We're getting hitched in June",
        "Tom is getting married in June 2027.",
    ),
    one(
        "I'm more of a cat person but my landlord doesn't allow pets",
        "my landlord doesn't allow pets",
        "Tom's landlord does not allow pets.",
    ),
    one(
        "i stopped drinking after the accident",
        "i stopped drinking after the accident",
        "Tom no longer drinks alcohol since his accident.",
    ),
    one(
        "Ever since the divorce I cook for one, mostly stir fries.",
        "Ever since the divorce I cook for one",
        "Tom is divorced and cooks for himself.",
    ),
    one(
        "My mate Dev talked me into climbing, now I'm hooked.",
        "My mate Dev talked me into climbing, now I'm hooked",
        "Tom's friend Dev got him into climbing, which he now loves.",
    ),
    one("No kids, no plans for any.", "No kids, no plans for any", "Tom has no children and does not plan to have any."),
    one("I can't do heights. Like, shaking on a ladder.", "I can't do heights", "Tom is afraid of heights."),
    one("got the results back, it's celiac", "got the results back, it's celiac", "Tom has celiac disease."),
    one(
        "I've been promoted to head nurse starting January",
        "I've been promoted to head nurse starting January",
        "Tom was promoted to head nurse, beginning in January 2027.",
    ),
    one("My old man drove trucks, I drive trams. Runs in the family.", "I drive trams", "Tom is a tram driver."),
    one(
        "Every summer we rent the same cabin near Bled.",
        "Every summer we rent the same cabin near Bled",
        "Tom rents the same cabin near Bled every summer.",
    ),
    one("I'm saving up for a cargo bike", "I'm saving up for a cargo bike", "Tom is saving money to buy a cargo bike."),
    one("Luckily the biopsy came back clean.", "the biopsy came back clean", "Tom had a biopsy that came back clean."),
    Case(
        ("Mira: Do you have any siblings?", "Tom: Two older brothers, both in the navy."),
        2,
        "Two older brothers, both in the navy",
        "Tom",
        "Tom has two older brothers who are in the navy.",
    ),
    Case(
        ("Mira: When is your birthday?", "Tom: 3rd of March, don't you dare sing."),
        2,
        "3rd of March",
        "Tom",
        "Tom's birthday is on 3 March.",
    ),
    Case(
        ("Tom: My roommate Karel is a vet.", "Mira: Useful!", "Tom: He patched up our hedgehog once."),
        3,
        "He patched up our hedgehog once",
        "Karel",
        "Tom's roommate Karel, a vet, once treated their hedgehog.",
    ),
    one(
        "I was a swimmer until my shoulder gave out.",
        "I was a swimmer until my shoulder gave out",
        "Tom used to swim competitively until a shoulder injury.",
    ),
    one(
        "Pineapple on pizza is a crime and I'll die on that hill.",
        "Pineapple on pizza is a crime",
        "Tom dislikes pineapple on pizza.",
    ),
    one(
        "I volunteer at the food bank on Wednesdays",
        "I volunteer at the food bank on Wednesdays",
        "Tom volunteers at a food bank every Wednesday.",
    ),
    one(
        "I'm renting a houseboat in Utrecht till summer",
        "I'm renting a houseboat in Utrecht till summer",
        "Tom rents a houseboat in Utrecht.",
    ),
    one(
        "Turns out I'm dyslexic, nobody noticed for thirty years",
        "Turns out I'm dyslexic",
        "Tom is dyslexic, which went unnoticed for thirty years.",
    ),
    one(
        "My stepdaughter Mei just got her black belt",
        "My stepdaughter Mei just got her black belt",
        "Tom's stepdaughter Mei has earned a black belt.",
    ),
    one(
        "I bake sourdough every Sunday, it's basically church",
        "I bake sourdough every Sunday",
        "Tom bakes sourdough bread on Sundays.",
    ),
    one(
        "lost my job at the mill in august", "lost my job at the mill in august", "Tom lost his job at the mill in August 2026."
    ),
    one("We adopted a greyhound called Flash", "We adopted a greyhound called Flash", "Tom has a greyhound named Flash."),
    one("I'd kill for a decent espresso in this town", "I'd kill for a decent espresso", "Tom loves espresso."),
    one(
        "Haven't eaten gluten since 2017, doctor's orders",
        "Haven't eaten gluten since 2017",
        "Tom has avoided gluten since 2017 on his doctor's advice.",
    ),
    one(
        "Chess club meets on Tuesdays, I'm the treasurer",
        "I'm the treasurer",
        "Tom is the treasurer of a chess club that meets on Tuesdays.",
    ),
    one("I can play the banjo badly", "I can play the banjo badly", "Tom plays the banjo, though not well."),
    one(
        "My parents emigrated from Chile in the seventies.",
        "My parents emigrated from Chile in the seventies",
        "Tom's parents emigrated from Chile in the 1970s.",
    ),
    one("I'm scared of dentists", "I'm scared of dentists", "Tom is afraid of dentists."),
]
FALSE = [
    one("I might move to Oslo next year.", "I might move to Oslo", "Tom moved to Oslo."),
    one("I might move to Oslo next year.", "move to Oslo next year", "Tom moves to Oslo in 2027."),
    one("My mother is a nurse.", "My mother is a nurse", "Tom is a nurse."),
    one("My mother is a nurse.", "is a nurse", "Tom is a nurse.", "Tom's mother"),
    Case(("Mira: I grew up in Bergen.", "Tom: Nice!"), 1, "I grew up in Bergen", "Tom", "Tom grew up in Bergen."),
    Case(
        ("Mira: You should visit the lighthouse.", "Tom: What lighthouse?"),
        1,
        "You should visit the lighthouse",
        "Tom",
        "Tom visits the lighthouse.",
    ),
    one("My sister's dog is called Rex.", "My sister's dog is called Rex", "Tom's dog is called Rex."),
    one("I walked my neighbour's horse today.", "I walked my neighbour's horse", "Tom has a horse."),
    one("I don't eat fish.", "I don't eat fish", "Tom eats fish."),
    one("I eat fish twice a week.", "I eat fish twice a week", "Tom does not eat fish."),
    one("Should I adopt a parrot?", "Should I adopt a parrot", "Tom adopted a parrot."),
    one("If I won the lottery I'd buy a vineyard.", "I'd buy a vineyard", "Tom bought a vineyard."),
    one("I wish I had a garden.", "I wish I had a garden", "Tom has a garden."),
    one("I'd love to visit Kyoto one day.", "visit Kyoto", "Tom visited Kyoto."),
    one("I almost married a dentist.", "I almost married a dentist", "Tom married a dentist."),
    one("I used to play the harp.", "I used to play the harp", "Tom plays the harp."),
    one("My brother got divorced.", "My brother got divorced", "Tom got divorced."),
    one("She lives in Turin with two cats.", "She lives in Turin with two cats", "Tom lives in Turin with two cats."),
    one("I have three brothers.", "I have three brothers", "Tom has four brothers."),
    one("I work at a bank.", "I work at a bank", "Tom works at Barclays."),
    one("You must be a Scorpio!", "You must be a Scorpio", "Tom is a Scorpio."),
    one("I love the sea.", "I grew up by the sea", "Tom grew up by the sea."),
    one("Maybe I'll become a beekeeper, who knows.", "I'll become a beekeeper", "Tom is a beekeeper."),
    one("My sister Ines is in Porto, her dog is called Bolota.", "her dog is called Bolota", "Tom's dog is called Bolota."),
    one("My sister Ines is in Porto, her dog is called Bolota.", "her dog is called Bolota", "Tom has a dog called Bolota."),
    one("Anna's husband owns a vineyard.", "Anna's husband owns a vineyard", "Tom's husband owns a vineyard."),
    one("My cousin wants me to invest in his bar.", "My cousin wants me to invest in his bar", "Tom owns a bar."),
    one("I thought about becoming a priest.", "I thought about becoming a priest", "Tom is a priest."),
    one("Everyone says I should see a doctor.", "I should see a doctor", "Tom saw a doctor."),
    one("My dad's allergic to shellfish.", "My dad's allergic to shellfish", "Tom is allergic to shellfish."),
    one("I haven't been to Japan.", "I haven't been to Japan", "Tom has been to Japan."),
    one("Do you think I would look good with a beard?", "I would look good with a beard", "Tom has a beard."),
    one("I'm not married.", "I'm not married", "Tom is married."),
    one("My wife's brother lives in Perth.", "My wife's brother lives in Perth", "Tom's brother lives in Perth."),
    one("Pretend I'm a wizard for a moment.", "I'm a wizard", "Tom is a wizard."),
    one("In my dream I owned a castle.", "I owned a castle", "Tom owned a castle."),
    one("They offered me the job but I turned it down.", "They offered me the job", "Tom accepted the job."),
    one("I was supposed to fly to Rome.", "I was supposed to fly to Rome", "Tom flew to Rome."),
    one("I hope to be a father one day.", "be a father", "Tom is a father."),
    one("He's a terrific guitarist.", "He's a terrific guitarist", "Tom is a terrific guitarist."),
    one("I nearly bought a horse.", "bought a horse", "Tom bought a horse."),
    one("Anna lent me her car.", "Anna lent me her car", "Tom lent Anna his car."),
    one("I like tea.", "I like tea", "Tom's favourite drink is tea."),
    Case(
        ("Mira: My brother lives in Rome.", "Tom: Cool."), 1, "My brother lives in Rome", "Tom", "Tom's brother lives in Rome."
    ),
    Case(("Mira: I love you, Tom.", "Tom: Aw."), 1, "I love you, Tom", "Tom", "Tom loves Mira."),
    one("I lived in Rome before.", "I lived in Rome before", "Tom lives in Rome."),
    one("I'm allergic to peanuts.", "I'm allergic to peanuts", "Tom is allergic to walnuts."),
    one("Unless I win, I won't buy a boat.", "I won't buy a boat", "Tom bought a boat."),
    one("I could become a pilot if I wanted.", "I could become a pilot", "Tom is a pilot."),
    one("My uncle sold his vineyard.", "My uncle sold his vineyard", "Tom sold his vineyard."),
    one("Has your sister moved to Rome?", "your sister moved to Rome", "Tom's sister moved to Rome."),
    one("I never finished school.", "finished school", "Tom finished school."),
    one("We were going to adopt a cat but didn't.", "We were going to adopt a cat", "Tom adopted a cat."),
    one("The doctor thinks it may be asthma.", "The doctor thinks it may be asthma", "Tom has asthma."),
    one("My friend Paul broke his leg.", "My friend Paul broke his leg", "Tom broke his leg."),
    one("I don't have any allergies.", "I don't have any allergies", "Tom has allergies."),
    one("Imagine if we lived in Hawaii!", "we lived in Hawaii", "Tom lived in Hawaii."),
    one("I have two cats.", "I have two cats", "Tom has two dogs."),
    one("I want to quit my job.", "I want to quit my job", "Tom quit his job."),
    Case(("Mira: I'm a vegetarian now.", "Tom: Since when?"), 1, "I'm a vegetarian now", "Tom", "Tom is a vegetarian."),
]
GERMAN = [
    one("Ich arbeite seit drei Jahren als Krankenpfleger in Kassel.",
        "Ich arbeite seit drei Jahren als Krankenpfleger in Kassel",
        "Tom arbeitet seit drei Jahren als Krankenpfleger in Kassel."),
    one("Meine Schwester Jule wohnt in Wien und erwartet ein Kind.", "Meine Schwester Jule wohnt in Wien",
        "Toms Schwester Jule wohnt in Wien."),
    one("Ich esse kein Fleisch mehr, schon seit dem Studium.", "Ich esse kein Fleisch mehr", "Tom isst kein Fleisch mehr."),
    one("Wir haben zwei Katzen, Mimi und Strolch.", "Wir haben zwei Katzen, Mimi und Strolch",
        "Tom hat zwei Katzen namens Mimi und Strolch."),
    one("Am 12. Dezember fliege ich nach Lissabon.", "Am 12. Dezember fliege ich nach Lissabon",
        "Tom fliegt am 12. Dezember 2026 nach Lissabon."),
    one("Ich würde gern Cello lernen.", "Ich würde gern Cello lernen", "Tom möchte Cello lernen."),
    one("Gegen Nüsse bin ich allergisch, leider.", "Gegen Nüsse bin ich allergisch", "Tom ist allergisch gegen Nüsse."),
    one("Aufgewachsen bin ich in einem Dorf bei Fulda.", "Aufgewachsen bin ich in einem Dorf bei Fulda",
        "Tom ist in einem Dorf bei Fulda aufgewachsen."),
    one("Mein Vater ist voriges Jahr gestorben.", "Mein Vater ist voriges Jahr gestorben", "Toms Vater ist 2025 gestorben."),
    one("Freitags spiele ich Handball im Verein.", "Freitags spiele ich Handball im Verein",
        "Tom spielt freitags Handball in einem Verein."),
    one("Ich hab Höhenangst, Leitern gehen gar nicht.", "Ich hab Höhenangst", "Tom hat Höhenangst."),
]  # fmt: skip
FRENCH = [
    one("Je travaille comme menuisier à Nantes depuis dix ans.", "Je travaille comme menuisier à Nantes depuis dix ans",
        "Tom travaille comme menuisier à Nantes depuis dix ans."),
    one("Ma sœur Élise habite à Lyon avec ses deux enfants.", "Ma sœur Élise habite à Lyon",
        "La sœur de Tom, Élise, habite à Lyon."),
    one("Je ne mange pas de viande.", "Je ne mange pas de viande", "Tom ne mange pas de viande."),
    one("J'ai un chat qui s'appelle Filou.", "J'ai un chat qui s'appelle Filou", "Tom a un chat qui s'appelle Filou."),
    one("J'ai grandi à Dakar, mais je vis à Lille.", "J'ai grandi à Dakar", "Tom a grandi à Dakar."),
    one("J'aimerais apprendre le piano un jour.", "J'aimerais apprendre le piano", "Tom aimerait apprendre le piano."),
    one("Je suis allergique aux noix.", "Je suis allergique aux noix", "Tom est allergique aux noix."),
    one("Mon père est mort quand j'avais douze ans.", "Mon père est mort quand j'avais douze ans",
        "Le père de Tom est mort quand Tom avait douze ans."),
    one("Le 14 décembre, je pars à Lisbonne avec mon frère.", "Le 14 décembre, je pars à Lisbonne",
        "Tom part à Lisbonne avec son frère le 14 décembre 2026."),
    one("On a acheté une vieille ferme en Bretagne.", "On a acheté une vieille ferme en Bretagne",
        "Tom a acheté une vieille ferme en Bretagne."),
    one("Je déteste la coriandre.", "Je déteste la coriandre", "Tom déteste la coriandre."),
]  # fmt: skip
SPANISH = [
    one("Trabajo de enfermero en un hospital de Bilbao.", "Trabajo de enfermero en un hospital de Bilbao",
        "Tom trabaja como enfermero en un hospital de Bilbao."),
    one("Mi hermana Lucía vive en Quito.", "Mi hermana Lucía vive en Quito", "La hermana de Tom, Lucía, vive en Quito."),
    one("No como carne desde hace cinco años.", "No como carne desde hace cinco años",
        "Tom no come carne desde hace cinco años."),
    one("Tengo dos perros, Luna y Chispa.", "Tengo dos perros, Luna y Chispa", "Tom tiene dos perros llamados Luna y Chispa."),
    one("Crecí en un pueblo cerca de Granada.", "Crecí en un pueblo cerca de Granada",
        "Tom creció en un pueblo cerca de Granada."),
    one("Me gustaría aprender a tocar el violín.", "Me gustaría aprender a tocar el violín",
        "A Tom le gustaría aprender a tocar el violín."),
    one("Soy alérgico a los cacahuetes.", "Soy alérgico a los cacahuetes", "Tom es alérgico a los cacahuetes."),
    one("Mi padre murió cuando yo tenía doce años.", "Mi padre murió cuando yo tenía doce años",
        "El padre de Tom murió cuando Tom tenía doce años."),
    one("El 14 de diciembre vuelo a Lisboa.", "El 14 de diciembre vuelo a Lisboa",
        "Tom vuela a Lisboa el 14 de diciembre de 2026."),
    one("Nos casamos en junio del año pasado.", "Nos casamos en junio del año pasado", "Tom se casó en junio de 2025."),
    one("Odio el cilantro con toda mi alma.", "Odio el cilantro", "Tom odia el cilantro."),
]  # fmt: skip
JAPANESE = [
    Case((f"トム: {text}",), 1, quote, "トム", fact)
    for text, quote, fact in (
        ("大阪の病院で看護師をしています。", "大阪の病院で看護師をしています", "トムは大阪の病院で看護師として働いている。"),
        ("姉のユミは札幌に住んでいます。", "姉のユミは札幌に住んでいます", "トムの姉のユミは札幌に住んでいる。"),
        ("肉は食べません。もう五年になります。", "肉は食べません", "トムは肉を食べない。"),
        ("猫を二匹飼っています。名前はタマとクロです。", "猫を二匹飼っています", "トムは猫を二匹飼っている。"),
        ("福岡で育ちましたが、今は東京にいます。", "福岡で育ちました", "トムは福岡で育った。"),
        ("いつかチェロを習いたいです。", "いつかチェロを習いたいです", "トムはいつかチェロを習いたいと思っている。"),
        ("ピーナッツアレルギーがあります。", "ピーナッツアレルギーがあります", "トムはピーナッツアレルギーがある。"),
        (
            "父は私が十二歳のときに亡くなりました。",
            "父は私が十二歳のときに亡くなりました",
            "トムの父はトムが十二歳のときに亡くなった。",
        ),
        ("12月14日にリスボンへ行きます。", "12月14日にリスボンへ行きます", "トムは2026年12月14日にリスボンへ行く。"),
        ("去年の夏に結婚しました。", "去年の夏に結婚しました", "トムは2025年の夏に結婚した。"),
        ("パクチーが大嫌いです。", "パクチーが大嫌いです", "トムはパクチーが大嫌いだ。"),
    )
]
TRUE_ELSEWHERE = {"German": GERMAN, "French": FRENCH, "Spanish": SPANISH, "Japanese": JAPANESE}
FALSE_ELSEWHERE = [
    one("Meine Mutter ist Krankenschwester.", "Meine Mutter ist Krankenschwester", "Tom ist Krankenschwester."),
    one("Vielleicht ziehe ich nach Oslo.", "ziehe ich nach Oslo", "Tom ist nach Oslo gezogen."),
    one("Ich esse keinen Fisch.", "Ich esse keinen Fisch", "Tom isst Fisch."),
    one("Der Hund meiner Schwester heißt Rex.", "Hund meiner Schwester heißt Rex", "Toms Hund heißt Rex."),
    Case(("Mira: Ich bin in Bergen aufgewachsen.", "Tom: Schön!"), 1, "Ich bin in Bergen aufgewachsen", "Tom",
         "Tom ist in Bergen aufgewachsen."),
    one("Ma mère est infirmière.", "Ma mère est infirmière", "Tom est infirmier."),
    one("Je vais peut-être déménager à Oslo.", "déménager à Oslo", "Tom a déménagé à Oslo."),
    one("Je ne fume pas.", "Je ne fume pas", "Tom fume."),
    Case(("Mira: J'ai grandi à Bergen.", "Tom: Ah bon ?"), 1, "J'ai grandi à Bergen", "Tom", "Tom a grandi à Bergen."),
    one("Mi madre es enfermera.", "Mi madre es enfermera", "Tom es enfermero."),
    one("Quizás me mude a Oslo.", "me mude a Oslo", "Tom se mudó a Oslo."),
    one("No tengo hijos.", "No tengo hijos", "Tom tiene hijos."),
    Case(("Mira: Crecí en Bergen.", "Tom: ¡Qué bien!"), 1, "Crecí en Bergen", "Tom", "Tom creció en Bergen."),
    Case(("トム: 母は看護師です。",), 1, "母は看護師です", "トム", "トムは看護師だ。"),
    Case(("トム: オスロに引っ越すかもしれません。",), 1, "オスロに引っ越す", "トム", "トムはオスロに引っ越した。"),
    Case(("トム: 魚は食べません。",), 1, "魚は食べません", "トム", "トムは魚を食べる。"),
    Case(("ミラ: ベルゲンで育ちました。", "トム: いいですね。"), 1, "ベルゲンで育ちました", "トム", "トムはベルゲンで育った。"),
]  # fmt: skip
