"""Speech that is not about the user's life: roleplay, scenes, dreams, games, hypotheses, and talk about the model."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lethe_app.brain.vocabulary.common_words import RELATIVE_WORDS, TIME_WORDS
from lethe_app.brain.vocabulary.verbs import BASE_VERBS
from lethe_app.retrieval.query_terms import WORD, fold

_HYPOTHESIS = re.compile(
    r"^\W*(?:(?:and|but|so|ok|okay|well|hey|hm+|lol)\b[\s,]*)*(?:imagine|suppose|supposing|what if|let'?s (?:say|imagine|"
    r"suppose)|picture (?:this|me)|"
    r"say I (?:was|were|had)|hypothetically|if (?:only )?(?:I|we|my \w+) (?:ever )?(?:were|was|had|could|won|lived|got rich|"
    r"became|ruled|inherited|didn't|weren't|"
    r"wasn't)|if it (?:were|was)(?:n't)?|"
    r"in (?:another|my next|a past|a different|an alternate) (?:life|universe|world|timeline)|had I\b|were I\b)"
    r"|\b(?:I|we)(?:'d| would)(?: (?:probably|rather|never|totally|definitely|maybe))? [a-z]+\b[^.!?]*\bif (?:I|we|it|"
    r"my \w+) (?:were|was|had|could|won|"
    r"lived|didn't|wasn't|weren't)\b"
    r"|\b(?:dreamt|dreamed|nightmare|had (?:a|this|the) (?:\w+ )?dream)\b(?! (?:job|house|home))|\b(?:in|from) my (?:dream|"
    r"nightmare)s?\b|/s\W*$"
    r"|\b(?:write|tell|make up|generate|create)\b[^.!?]*\b(?:story|poem|scene|tale|song|fairy ?tale|"
    r"fan ?fic(?:tion)?)\b[^.!?]*\bI(?:'m| am|'ve| have| was)\b",
    re.IGNORECASE,
)
_DREAM = re.compile(
    r"\b(?:dreamt|dreamed|nightmare|(?:had|have) (?:an?|this|the|such an?) (?:[\w-]+ ){0,2}dream|(?:weird|strange|crazy|bad|"
    r"odd)(?:est)? "
    r"dream)\b",
    re.IGNORECASE,
)
_DREAM_CONTENT = re.compile(
    r"\W*(?:(?:and|then|so|but|like|suddenly|basically|it was)\b,? ?)*(?:I|we|you|he|she|they|it|there|my \w+|everyone|"
    r"everybody) "
    r"(?:was|were|had|couldn't|could|kept|\w+ed|got|went|saw|ran|flew|fell|said|lived|came)\b",
    re.IGNORECASE,
)
_WAKING_LIFE = re.compile(
    r"\b(?:woke|awake|today|yesterday|last (?:night|week|year)|anyway|now|years? ago|in real life|irl|alarm)\b", re.IGNORECASE
)
_GAME = re.compile(
    r"\b(?:my (?:character|avatar|sim|sims|oc|paladin|wizard|tiefling|minecraft|skyrim|d&d)\b(?! traits?)|in[- ]game\b|"
    r"in (?:the|this|that|my) (?:video ?)?game\b|"
    r"playing as\b|in (?:skyrim|minecraft|the sims|stardew(?: valley)?|animal crossing|zelda|fortnite|roblox|"
    r"world of warcraft|wow|"
    r"baldur'?s gate|fallout|gta|the witcher|elden ring|pok[eé]mon)\b)",
    re.IGNORECASE,
)
_GAME_NAME = re.compile(
    r"\W*(?:(?:mostly|just|um|oh|lol|prob(?:ably)?|i play|playing|been playing) )*(?:skyrim|minecraft|the sims|sims|"
    r"stardew(?: valley)?|"
    r"animal crossing|zelda|fortnite|roblox|(?-i:WoW)|world of warcraft|baldur'?s gate(?: 3)?|fallout|gta|the witcher|"
    r"elden ring|"
    r"pok[eé]mon|"
    r"d&d|dnd|civ(?:ilization)?|crusader kings|rimworld|terraria|valheim)\b(?: (?:rn|mostly|lol|again|obviously|these days|"
    r"atm))*\W*$",
    re.IGNORECASE,
)
_WOULD_CLAUSE = re.compile(
    r"\W*(?:(?:and|then|so|oh|well|maybe)\b,? )*(?:I'd|id|I would|we'd|we would)(?: (?:probably|definitely|totally|just|also|"
    r"rather|"
    r"never|maybe|prob))* (?P<verb>\w+)",
    re.IGNORECASE,
)
_ACTION_VERBS = (BASE_VERBS - {"like", "love", "prefer", "hate", "say"}) | {
    "be", "do", "go", "get", "have", "move", "open", "quit", "stay", "call", "put", "shut", "own",
}  # fmt: skip
_LONG_AGO = re.compile(
    r"\b(?:as a (?:kid|child|boy|girl)|when I was|every|always|used to|back then|appreciate|been)\b", re.IGNORECASE
)
_ARTIFICIAL = re.compile(
    r"\b(?:as an? (?:AI|artificial|language model|virtual|digital (?:assistant|companion))|I(?:'m| am)(?: \w+){0,3}? (?:AI|"
    r"artificial "
    r"intelligence|language model|chat ?bot|bot|virtual assistant|computer program|software|machine learning)\b|"
    r"language model|"
    r"my (?:training(?: data)?|knowledge cut-?off|programming|developers|creators|algorithms?)|I (?:was|am) (?:trained|"
    r"programmed|"
    r"developed|created|designed) (?:by|on|to|with|as)|I (?:do not|don't|cannot|can't|lack|am not able to|am unable to|"
    r"don't actually)[^.!?]{0,30}?(?:have|experience|"
    r"feel|possess)?[^.!?]{0,15}?\b(?:personal (?:experiences?|opinions?|feelings?|beliefs?|preferences?|life|information)|"
    r"feelings or|emotions|"
    r"physical (?:body|form)|a (?:physical )?body|consciousness|browse the internet|access (?:to )?(?:real-?time|"
    r"the internet|personal)|real-?time))",
    re.IGNORECASE,
)


def is_hypothetical(sentence: str) -> bool:
    """Return whether the sentence is about something imagined or dreamt."""
    return bool(_HYPOTHESIS.search(sentence)) or _would_do(sentence)


def _would_do(sentence: str) -> bool:
    """Return whether a sentence states what its speaker would do: “I'd buy mum a bungalow”."""
    match = _WOULD_CLAUSE.match(sentence)
    return match is not None and match["verb"].lower() in _ACTION_VERBS and not _LONG_AGO.search(sentence)


def is_game_name(sentence: str) -> bool:
    """Return whether a sentence only names the game that its speaker plays."""
    return bool(_GAME_NAME.match(sentence))


def mentions_dream(sentence: str) -> bool:
    """Return whether a sentence mentions that somebody had a dream."""
    return bool(_DREAM.search(sentence))


def can_be_dream_content(sentence: str) -> bool:
    """Return whether a sentence after the announcement of a dream may describe its content."""
    return bool(_DREAM_CONTENT.match(sentence)) and not _WAKING_LIFE.search(sentence)


def is_about_game(sentence: str) -> bool:
    """Return whether the sentence is about a character in a game."""
    return bool(_GAME.search(sentence))


def is_about_language_model(sentence: str) -> bool:
    """Return whether the speaker states that they are a language model."""
    return bool(_ARTIFICIAL.search(sentence))


_PLAY = r"(?:role-? ?play(?:ing)?|rp|scene|story|adventure(?! park)|scenario|improv|(?:d&d|dnd|dungeons) [\w& ]*campaign)"
_PERSONA_ROLE = r"you(?:'re| are|'ll be| will be| be| play| can be)(?: as)? (?:an?|the|my) [^.!?\n]{2,50}?"
_USER_ROLE = r"(?:I(?:'m| am|'ll be| will be| play| be|'ll play| can be)|me)(?: as)?"
_SCENE_DECLARATION = re.compile(
    r"\blet'?s (?:do|start|try|have|begin|continue|play(?: out)?|write|make|act out|run|set up) (?:an? |the |our |some |"
    r"another |"
    rf"this |with an? )?(?:[\w-]+ ){{0,2}}?{_PLAY}\b"
    r"|\blet'?s (?:role-?play|rp|pretend|play pretend|play make[- ]believe|play (?:that )?(?:you|we|I)\b|play: )"
    r"|\b(?:wanna|want to|can we|could we|shall we|should we|would you like to|I'd like to) (?:role-? ?play|rp|play pretend|"
    rf"(?:do|try|start|play|have|act out|continue) (?:an? |some |our |the )?(?:[\w-]+ ){{0,2}}?{_PLAY})\b"
    r"|^\W*(?:rp|role-?play|scene|setting|scenario)\s*[:—–]"
    r"|\b(?:can we|could we|shall we|let'?s) (?:be|play) (?!friends|buddies|mates|partners|lovers|besties|pals|games|cards|"
    r"siblings)"
    r"(?:[\w-]+ )?[a-z]+(?:s|men)\b(?= (?:for|now|tonight|again|instead)\b|\W*$)"
    r"|\b(?:be|you(?:'re| are)|play|act as) (?:my |the |our |a )?(?:dungeon|game) master\b"
    rf"|\b(?:pretend|imagine|suppose|let'?s say|scenario|picture)\b[^.!?\n]{{0,20}}\b{_PERSONA_ROLE}(?:,|;| and|"
    rf"\.) ?(?:and )?{_USER_ROLE} "
    rf"|\b{_PERSONA_ROLE}(?:,|;| and|\.) ?(?:and )?{_USER_ROLE} (?:your|the)\b(?! (?:best|worst|one|only|lucky|problem|same|"
    rf"opposite))"
    r"|\bI(?:'ll| will|'m going to|'m gonna) (?:be|play)(?: as)? (?:an?|the|your|my) [^.!?\n]{2,50}?(?:,|;| and|"
    r"\.) ?(?:and )?"
    r"you(?:'re| are|'ll be| will be| be| can be| play)\b"
    r"|\bI(?:'m| am) (?:the|your) (?!best|worst|one|only|lucky|problem|same)[^.!?\n]{2,40}?(?:,| and) ?(?:and )?"
    r"you(?:'re| are) (?:the|my)\b"
    r"|(?:^|[.!?:,]\s*)(?:(?:ok(?:ay)?|now|so|hey|can we|could we|please|just)[\s,]+)*(?:pretend|"
    r"make believe)(?: that)? (?:we|I)(?:'re|'m| are| am)\b",
    re.IGNORECASE,
)
_COMPANION_ROLE = re.compile(
    r"\b(?:girlfriend|boyfriend|wife|husband|married|couple|lovers?|dating|friends?|siblings?|sister|brother|family|"
    r"roommates?)\b",
    re.IGNORECASE,
)
"""Roles of a companion, in which the user keeps their own identity."""
_CHARACTER_REQUEST = re.compile(
    r"(?:^|[.!?,\n]\s*|\b(?:can|could|would|will) you |\bplease |\bnow |\bi want you to |\blet'?s )"
    r"(?:(?:pretend|imagine|act|speak|talk|answer|respond|reply)\b[^.!?\n]{0,25}?\b(?:to be|you(?:'re| are)|as if you|as an?|"
    r"as the|like an?)\b|(?:do|give|write|have) (?:me )?an interview with\b)"
    r"|\bas (?:a|an|the) interviewer\b|^\W*you are (?:now )?(?:an?|the) (?!best|only|one|sweetest|worst|reason|first)",
    re.IGNORECASE,
)
_SCENE_END = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|alright|all right|right|well|haha+|lol|so|anyway|phew|wow|thanks|thank you|hey|oh|and|but|yeah|"
    r"man)\b[\s,.!…]*)*"
    r"(?:(?:speaking |going |stepping |a bit |let me go )?(?:out of character|ooc)\b|(?:let'?s |we can |can we |I want to |"
    r"I'd like to )?(?:end|stop|pause|leave|"
    r"drop|quit|finish|break)(?: (?:the|this|our|with the|playing|it|there|here))? ?(?:role-? ?play(?:ing)?|rp|scene|story|"
    r"game|play|acting|"
    r"character|playing|adventure|there|here)\b|(?:end|the end)(?: of)?(?: the| this| our)? ?(?:scene|rp|role-? ?play|"
    r"story|game)?\W*$"
    r"|(?:that|this|it)(?:'s| is| was)(?: \w+){0,2}? (?:fun|great|awesome|a (?:good|great|nice|fun|lovely) (?:one|scene|"
    r"story|game)|"
    r"enough (?:for|of|role|story|play)|hilarious)\b|enough (?:of (?:this|that|the)|role|story|play|for (?:today|now|"
    r"tonight))|"
    r"back to (?:reality|real life|normal|me|us|the real)|(?:in )?real life\b|irl\b|real talk\b|fade to black|"
    r"(?:good|great|nice|fun|lovely) (?:scene|rp|role-? ?play|story|game)\b|thanks for (?:playing|the (?:game|story|scene|"
    r"rp))|"
    r"let'?s (?:talk|chat) (?:about|normally)|can (?:I|we) (?:ask|tell|talk)(?: to)?(?: you)?(?: about)? something (?:real|"
    r"serious|else)|"
    r"(?:changing|change of) (?:the )?(?:subject|topic)|on (?:a|another) (?:different|more serious|serious|unrelated) note)",
    re.IGNORECASE,
)
_TOPIC_CHANGE = re.compile(r"^\W*(?:anyway|anyways|anyhow|so anyway|ok(?:ay)?,? (?:so )?anyway)\b", re.IGNORECASE)
_ASIDE = re.compile(
    r"\b(?:btw|by the way|irl|in real life|real talk|ooc|out of character|for real though|in reality)\b", re.IGNORECASE
)


def split_at_declaration(text: str) -> tuple[str, str, str]:
    """Split a text into what precedes, forms and follows the sentences that set up a scene with a role for the user.

    Without such a declaration the first two parts are empty.
    """
    match = _SCENE_DECLARATION.search(text)
    if not match:
        return "", "", text
    start = max(text.rfind(mark, 0, match.start() + 1) for mark in ".!?\n") + 1
    sentence_end = re.search(r"[.!?\n]|$", text[match.end() :])
    end = match.end() + (sentence_end.end() if sentence_end else 0)
    return text[:start], text[start:end], text[end:]


def is_companion_scene(text: str) -> bool:
    """Return whether the declared scene is only a relationship with the persona, in which the user still talks about their
    own life.
    """
    return bool(_COMPANION_ROLE.search(text))


def asks_for_character(text: str) -> bool:
    """Return whether the user asks the persona to speak as somebody else."""
    return bool(_CHARACTER_REQUEST.search(text))


def ends_scene(sentence: str, *, can_change_topic: bool) -> bool:
    """Return whether the sentence ends a scene; with `can_change_topic` a mere “anyway” is enough."""
    return bool(_SCENE_END.match(sentence) or (can_change_topic and _TOPIC_CHANGE.match(sentence)))


def is_out_of_character(sentence: str) -> bool:
    """Return whether the sentence marks itself as out of character."""
    return bool(_ASIDE.search(sentence))


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


SPEECH = re.compile(r"[\"“](?P<said>[^\"“”\n]+)[\"”]")
_MARKS = re.compile(r"[\"“”]")
_SPEECH_TAG = re.compile(
    r"^(?:and |then )?(?:I|he|she|they|we) (?:\w+ly )?(?:says?|asks?|whispers?|shouts?|mutters?|repl(?:y|ies)|"
    r"answers?|calls?|cr(?:y|ies)|"
    r"add|go|yells?|growls?|sighs?|said|asked|whispered|shouted|muttered|replied|answered)\b",
    re.IGNORECASE,
)
"""Speech tag next to a quotation, such as “I whisper” or “he said”."""


def extract_own_statement(sentence: str, narration: str, scene_words: frozenset[str]) -> str:
    """Return the statement about the user's own life that follows the last quotation of a narration, or an empty string.

    It counts only if it begins in lower case, as typed in chats, is no speech tag and mentions none of the `scene_words`.
    """
    speech_end = max((match.end() for match in SPEECH.finditer(narration)), default=-1)
    statement = sentence.strip(" .,…–-")
    is_typed = (
        speech_end >= 0 and statement[:1].islower() and sentence in narration[speech_end:] and not _SPEECH_TAG.search(statement)
    )
    return statement if is_typed and is_everyday_statement(statement, scene_words) else ""


def split_by_quotes(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the quoted and the unquoted pieces of a text, each with whether it belongs to the speech.

    An unquoted piece belongs to it if it is a speech tag (“…,” I whisper) but not if the user talks about themselves (“…!”
    ...and I'm allergic to nuts).
    """
    if not SPEECH.search(text):
        yield _MARKS.sub("", text), True
        return
    cursor = 0
    for match in SPEECH.finditer(text):
        yield from _classify_unquoted(text[cursor : match.start()])
        yield match["said"], True
        cursor = match.end()
    yield from _classify_unquoted(text[cursor:])


def _classify_unquoted(text: str) -> Iterator[tuple[str, bool]]:
    if WORD.search(text):
        piece = _MARKS.sub("", text).strip(" .,…–-")
        yield piece, bool(_SPEECH_TAG.search(piece)) or not is_about_speaker(piece)
