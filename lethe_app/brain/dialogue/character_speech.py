"""Distinguish sentences that only a roleplay character can say from statements about everyday life."""

from __future__ import annotations

import re

from lethe_app.brain.vocabulary.common_words import RELATIVE_WORDS, TIME_WORDS
from lethe_app.retrieval.query_terms import WORD, fold

_HABIT = re.compile(
    r"\b(?:every|usually|often|always|sometimes|most|on (?:weekends|\w+days)|daily|weekly|each|never|whenever|once a|twice a|"
    r"a lot|professionally|for (?:a living|fun|work|years)|since|tomorrow|next|at (?:work|school|night|\d+|five|six|seven|"
    r"eight|nine|ten)|to work|in (?:may|june|july)|before (?:work|bed|school)|after (?:work|school|class))\b",
    re.IGNORECASE,
)
_NARRATED_I = (
    r"^\W*(?:(?:then|and|so|but|quickly|slowly|silently|quietly|suddenly|carefully|without a word),? )*I "
    r"(?:\w+ly |then |just )?"
)
_ITS_OBJECT = r"(?:the|my|an?|your|his|her)"
_PHYSICAL_ACT = re.compile(
    rf"{_NARRATED_I}(?:(?:snatch|slash|unsheathe|sheathe|crouch|kneel|bow|leap|sneak|creep|tiptoe|glare|gaze|glance|nod|shrug|smirk|"
    r"grin|frown|wink|chuckle|gasp|whisper|murmur|mutter|growl|snarl|hiss|conjure|summon|teleport|dodge|parry|stab|gulp|"
    r"shiver|tremble|stagger|stumble|stare)\b"
    rf"|(?:raise|lower|draw|swing|cast|aim|clutch|brandish|wield) {_ITS_OBJECT}\b|step (?:closer|back|forward|inside|toward)"
    r"|turn (?:to|around to|away from|toward) (?:you|him|her|the)|look (?:at (?:you|him|her)|around|up at|down at|into your)"
    r"|reach (?:for|out)|take a (?:step|deep breath|sip)|hold (?:up|out)|command (?:you|the|my)|order (?:you|my)|swear (?:by|"
    r"fealty)|challenge you|shoot (?:at|an arrow)|kick (?:down|open)|push open|face the|hide behind|slam|toss|cross my arms|"
    r"press my|touch your|follow you|attack (?:the|him|her|it|you)|charge (?:at|the|into))",
    re.IGNORECASE,
)
"""Physical acts narrated in the present tense, which nobody performs while typing."""
_POSSIBLE_ACT = re.compile(
    rf"{_NARRATED_I}(?:smile|sigh|laugh|grab|pause|hesitate|approach|enter|examine|inspect|attack|hug|kiss|lean|turn|look|walk|run|"
    r"take|hold|pull|push|open|close|unlock|knock|sit|stand|follow|pick|hide|drop|wait for|pour|hand|give|throw|kick|light|"
    r"put|place|ride|fire|shoot|climb|slide|set|press|touch|lower|raise|search|ask|answer|say|tell|order)\b",
    re.IGNORECASE,
)
"""Acts narrated in the present tense that can also be habits; they count as acted only within a scene."""
_MEDIA = re.compile(
    r"\b(?:read(?:ing)?|watch(?:ed|ing)?|play(?:ed|ing)?|books?|novels?|movies?|films?|series|shows?|games?|episodes?|"
    r"campaign|d&d|dnd|lego|costumes?|cosplay|collect\w*|named|called|posters?|museum|visited|tour|skyrim|witcher|zelda|"
    r"warcraft|minecraft|fantasy|fan of|loves?|liked?|hates?|obsessed|painting|draw(?:ing|n)|tattoo|halloween|party|"
    r"dressed|fencing|reenact\w*)\b",
    re.IGNORECASE,
)
_RANK = (
    r"(?:king|queen|prince|princess|emperor|empress|knight|paladin|wizard|mage|sorcerer|sorceress|warlock|necromancer|elf|"
    r"orc|dwarf|goblin|vampire|werewolf|ghost|demon|dragon|assassin|bounty hunter|mercenary|smuggler|pirate|rogue|spy|"
    r"time travell?er|admiral|chosen one|immortal|cyborg|android|alien|mermaid|fairy|superhero|warrior|gladiator|samurai|"
    r"ninja|viking|oracle|druid|cleric|hitman|siren|(?:captain|commander|ruler|lord|lady|heir|god|goddess|guardian|keeper) "
    r"(?:of|to) (?!(?:[\w' ]+ )?(?:team|squad|club|side)\b) (?:the|this|these|all|[A-Z])[\w ]*)\b(?! (?:fan|developer|writer|"
    r"player|lover|nerd|main|costume|dad|mom))"
)
_FANTASTIC = re.compile(
    r"\b(?:thee|thou|thy|thine|'tis|'twas|hath|doth|milady|m'lady|m'lord|my (?:liege|lord|lady|king|queen|prince)|"
    r"your (?:majesty|highness|grace|lordship|ladyship|excellency)|sire|foul (?:beast|creature|demon)|mortals?|"
    rf"as (?:the |a |an )?{_RANK}|(?:I am|I'm|I was) (?:(?:only|just|but) )?(?:an? |the )?(?:[\w-]+ ){{0,2}}?{_RANK}|"
    r"I am (?:Sir|Lord|Lady|Dame|King|Queen|Prince|Princess) |(?:I am|I'm) (?:captain|baron|count) (?-i:[A-Z])[a-z]+|"
    r"seven seas|(?:I am|I'm|I was) the (?:\w+ )?(?:king|queen|duke|earl|baron|"
    r"count|emperor|sultan|tsar|admiral)'?s (?:\w+ )?(?:sons?|daughters?|heir|child|brother|sister|wife|guard|man)|"
    r"my (?:sword|blade|spell|spells|spellbook|kingdom|throne|"
    r"starship|army|warriors|magic|wand|dagger|cloak|armou?r|steed|wings|fangs|claws|realm|castle|quiver|crossbow|shield|"
    r"blaster|lightsaber|spaceship|powers)|(?:the|this|that|an?|these|those) (?:[\w-]+ )?(?:dragons?|orcs?|goblins?|trolls?|"
    r"dark lord|necromancer|sorcerer|enchantment|portal|tavern|dungeon|throne|kingdom|realm|amulet|talisman|potion|prophecy|"
    r"starship|airlock|hyperdrive|galaxy|catacombs|crypt|portcullis|elven|dwarven|undead|bandits|sword)|"
    r"(?:kingdom|realm|house|clan|order|tower|isles?) of (?:the )?[A-Z]\w+|by the (?:gods|moon|crown)|slain|slay|vanquish|"
    r"smite|bewitched|(?:for|over) (?:a|two|three|four|five|six|\d+) (?:hundred years|thousand years|centuries)|"
    r"centuries (?:ago|old)|(?:hundred|thousand)s?(?: of)? (?:years old|winters|moons)|many (?:moons|winters))\b"
    r"|\bI(?:'m| am) (?:1[3-9]\d|[2-9]\d\d|\d{4,})(?: years old)?\b|\bborn in (?:the year )?1[0-7]\d\d\b",
    re.IGNORECASE,
)
_DRAMATIC = re.compile(
    r"\b(?:killed by|murdered|betrayed|the war|enem(?:y|ies)|the guards?|prisoners?|hostages?|the treasure|the map|the ship|"
    r"the crew|the village|the forest|the crown|bounty|vengeance|revenge|oath|blood|sword|spell|your kin)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"(?<![\w'])(?:I|I'm|I've|I'd|I'll|im|ive|i|my|me|we|we're|our|mine)(?![\w])", re.IGNORECASE)
_KIN_IN_STORIES = frozenset(
    """
    son sons brother brothers father sister sisters mother daughter daughters wife husband child children family
    """.split()  # noqa: SIM905 - see retrieval/query_terms
)
_EVERYDAY_WORDS = (RELATIVE_WORDS - _KIN_IN_STORIES) | frozenset(
    map(
        fold,
        """
        work works working worked job jobs office hospital shift shifts school uni university college class classes
        lecture exam exams teacher nurse doctor dentist therapist therapy appointment rent flat apartment landlord
        mortgage car bus train tram flight airport phone laptop computer internet wifi email emails app online movie
        netflix coffee pizza pasta lunch breakfast groceries supermarket weekend birthday wedding vacation holiday
        holidays gym diet vegan vegetarian allergic allergy allergies pregnant baby babies homework thesis project
        meeting meetings deadline interview degree salary manager coworker coworkers company client clients customers
        kindergarten surgery diagnosed cancer knee headache migraine anxiety depression medication pills insurance moved
        moving guitar piano football soccer marathon bike cycling yoga hiking bakery restaurant barista student semester
        vet engineer accountant lawyer plumber programmer designer monday tuesday wednesday thursday friday saturday
        sunday insomnia divorce divorced funeral retired pension sofa couch tv concert festival tired exhausted lately
        nowadays hometown
        """.split(),  # noqa: SIM905 - see retrieval/query_terms
    )
)
"""Words of everyday life that are rare in roleplay scenes."""


def is_roleplay_sentence(sentence: str, *, in_scene: bool = False) -> bool:
    """Return whether the sentence is an act or utterance that only a character can perform; `in_scene` accepts ordinary acts
    too.
    """
    if (_PHYSICAL_ACT.match(sentence) or (in_scene and _POSSIBLE_ACT.match(sentence))) and not _HABIT.search(sentence):
        return True
    return bool(_FANTASTIC.search(sentence)) and not _MEDIA.search(sentence)


def is_everyday_statement(sentence: str, scene_words: frozenset[str] = frozenset(), *, is_quoted: bool = False) -> bool:
    """Return whether the sentence is about everyday life, in the first person and without any of the `scene_words`.

    A sentence `is_quoted` beside an action belongs to a character, so mentions of family and age do not count for it.
    """
    words = {fold(word) for word in WORD.findall(sentence)}
    if not _FIRST_PERSON.search(sentence) or not words.isdisjoint(scene_words) or is_roleplay_sentence(sentence):
        return False
    if not _EVERYDAY_WORDS.isdisjoint(words):
        return True
    return not is_quoted and not _DRAMATIC.search(sentence) and not (_KIN_IN_STORIES | TIME_WORDS).isdisjoint(words)


def is_about_speaker(sentence: str) -> bool:
    """Return whether the sentence is a statement by the speaker in the first person or about everyday life, neither question
    nor acted.
    """
    words = {fold(word) for word in WORD.findall(sentence)}
    is_question = sentence.rstrip("\"”’') ").endswith("?")
    return (
        not is_question
        and (bool(_FIRST_PERSON.search(sentence)) or not _EVERYDAY_WORDS.isdisjoint(words))
        and not is_roleplay_sentence(sentence)
    )
