"""Word lists for salience, keywords and titles: filler words, feelings, life events, relatives, times."""

from __future__ import annotations

from lethe_app.retrieval.query_terms import STOP_WORDS


def _word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


FOREIGN_STOP_WORDS = _word_set(
    """
    der die das den dem des ein eine einen einem einer eines und oder aber nicht kein keine ist sind war waren bin bist hat
    habe haben hatte wird werde werden wurde kann kannst können muss müssen soll will wollen ich du er sie es wir ihr mich
    dich sich mir dir ihm ihn uns euch mein meine meinen meinem meiner dein deine deinen sein seine seinen ihre ihren unser
    unsere mit auf für von vom zu zum zur im in an am bei beim aus nach über unter vor wenn weil dass daß als wie was wer wo
    wann warum auch noch schon nur sehr so mal ja nein doch denn dann da hier dort heute morgen gestern immer wieder mehr
    ganz gern gerne gut möchte vielleicht viel etwas nichts alles man um ob seit gibt geht mach machen macht le la les un
    une et ou mais pas ne est sont était suis a ai as avons avez ont avait je tu il elle on nous vous ils elles me te se mon
    ma mes ton ta tes son sa ses notre votre leur ce cet cette ces ça ca que qui quoi dont où avec pour par sur dans en au
    aux de plus très trop bien oui non si comme quand aussi encore déjà tout tous toute fait faire être avoir va el los las
    una unos unas y o pero no era soy eres está estoy están he ha han yo tú él ella nosotros ellos mi mis tus su sus lo nos
    qué quién como cómo cuando cuándo dónde donde con por para del al más muy sí también ya todo todos esta este esto eso
    ese hay ser estar tener tengo tiene voy hacer hace porque gli uno e ed è sono sei siamo ho hai abbiamo hanno io lui lei
    noi voi loro mio mia tuo tua suo sua ti ci vi che chi cosa quando dove come perché per di della dei delle alla nel nella
    dal più molto bene sì anche ancora già tutto questo questa quello fare essere os uma umas mas não são eu ele ela nós
    eles meu minha teu seu isso isto com pra do dos na nas ao à muito bem sim também já tudo onde quem estou foi ter tenho
    tem vou vai fazer het een of maar niet geen ben bent zijn heb hebt heeft hebben had ik jij hij zij ze wij we jullie mijn
    jouw haar ons onze met op voor van naar bij uit aan om dan dat dit deze wat waar wanneer waarom ook nog heel erg goed
    nee daar veel meer moet kan wil ga gaat gaan wel и в не на я что он с а как это по но она они к у ты из мы за вы так же
    от бы о для да нет мне меня тебя тебе его её ее их был была было есть если ещё еще уже или все всё очень мой моя моё
    твой свой этот эта когда где кто там тут только w z i nie się to jest że co jak ty ona my wy oni po za od dla ale czy
    tak już bardzo mój moja mam masz jestem jesteś był była będę ve bir bu için sen biz siz mı çok ama var yok gibi daha
    """
)
"""Stop words of German, French, Spanish, Italian, Portuguese, Dutch, Russian, Polish and Turkish."""

_VERBS = _word_set(
    """
    believe gain post reassure tend
    accept achieve add agree allow appear appreciate arrive ask bet bother bring buy call care carry catch change chat check
    choose come consider continue cost cover create decide deserve develop discover discuss do doubt drop encourage end
    enjoy expect explain explore face fail fall feel figure fill find finish fit fix follow forget get give glad go grab
    grow guess hand handle hang happen hate head hear help hold hope imagine include inspire involve join keep kick kid know
    laugh lead learn leave let lie lift like listen live look lose love make manage matter mean meet mention mind miss
    motivate move need notice offer open pass pay pick plan point prefer prepare promise prove provide pull push put quit
    reach read realise realize receive recommend relate relax remember remind remain require respond return run save say
    seem see sell send set settle share show shut sit sound speak spend spread stand start stay step stick stop strike
    struggle suggest suppose sure take talk teach tell tend thank think throw touch treat trust try turn understand use
    visit wait wake walk want watch wear welcome wish wonder work worry write admire boost bond cherish improve focus hit
    connect express play strive tackle track raise breathe attend host seek chase experience volunteer donate tour begin
    become lean nod smile sigh grin whisper mutter murmur shrug frown glance gaze stare pause chuckle giggle blink
    """
)
_IRREGULAR = _word_set(
    """
    brought bought caught came chose chosen cost did done fell fallen felt found fit forgot forgotten gave given got gotten
    went gone grew grown heard held hung kept knew known led left lay lain lost made meant met paid put quit read ran said
    saw seen sold sent set showed shown shut sat spoke spoken spent spread stood stuck struck taught told took taken thought
    threw thrown tried understood woke woken wore worn wrote written beat began begun became
    """
)
_FILLER_WORDS = _word_set(
    """
    mr mrs ms dr pls plz
    others other ourselves yourself yourselves myself himself herself themselves itself oneself overwhelming easier harder
    smaller bigger higher older younger faster slower larger greater closer stronger healthier woohoo favorites favourites
    regardless ton tons link down congrats congratulations sense key able absolutely actually afraid agreed ah aha alone
    along already alright alway always amazing amount another anybody anymore anyone anything anyway anywhere around aside
    asleep aw awesome away awful aww back bad badly basically beautiful believe best better big bit bits both boy brave
    brilliant btw busy bye came cannot case cases certain certainly chance chances cheers clear clearly close completely
    cool correct couple course crazy cute damn dear deep deeply definitely delicious different difficult dude early easily
    easy eh either else em enough er especially even ever every everybody everyone everything everywhere exactly excellent
    excited exciting extra fact fair fairly fantastic far fascinating fast favorite favourite fave faves few final finally
    fine first folk folks forever forward free fresh full fully fun funny future gee general generally gentle gentlemen girl
    girls gonna good goodbye goodness gorgeous gosh gotta grateful great greatly guy guys ha haha half happily happy hard
    hardly hello hell hey hi high hm hmm hold honest honestly hopefully hours hour hug hugs huge huh idea ideas idk im
    impact important impressive including incredible incredibly indeed instead inspiration inspirational inspiring inspired
    interested interesting intense issue issues job kind kinda kinds know lack lady last late lately later least less life
    likely literally little lol long longer lot lots lovely low lucky lmao mad main man many matter may maybe meaning
    meaningful memorable mhm might mine minute minutes moment moments month months mostly much must name named near nearly
    neat necessary never new next nice nobody none nope normal normally nothing now nowhere number obviously occasion oh ok
    okay old omg one ones onto oof ooh oops open ouch outside overall pal part particular particularly parts past people
    perfect perfectly perhaps person personal pic pics photo photos picture pictures place places please plenty plus
    positive possible possibly pretty pride probably problem problems progress proud quick quickly quiet quietly quite
    random rare rarely rather ready real really reason reasons recent recently regards rest right ring safe sad sake second
    seriously several short side sides similar simple simply since single slightly slow slowly small smart soft softly
    somebody somehow someone something sometime sometimes somewhat somewhere soon sorry sort sorts special specific still
    story stories strange strength strong stuff stunning such sudden suddenly super support supportive sweet talent talented
    terrible terribly thankful thankfully thanks thing things third thought thoughts thrilled thru tip tips today together
    tomorrow tonight top totally tough true truly twice two type types ugh um unbelievable unfortunately unique usual
    usually various view views wanna way ways week weekend weeks weird well whatever whenever wherever whether whew whoa
    whole whose wild wonderful wondering wont word words world worse worst worth wow wrong ya yay yea yeah year years yep
    yes yesterday yet young yup yikes three four five six seven eight nine ten dozen hundred thousand ago across among
    despite except within without toward towards upon behind beside besides beyond although though however therefore thus
    unless while whereas per via morning afternoon evening night nights day days time times feeling feelings experience
    experiences goal goals bunch opportunity opportunities situation piece pieces passion passionate powerful power joy
    peace peaceful calm calming happiness excitement fulfilling rewarding refreshing growth journey memories memory
    difference awareness courage hard-working dedication determination hype hyped pumped stoked eager curious awe blast vibe
    vibes skill skills line face eyes eye hand hands head voice smile feet arm arms shoulder shoulders lip lips breath room
    sir ma'am mate buddy bro sis honey darling sweetie babe friend friends ain't y'all dunno lemme gimme cuz cause ve ll don
    didn doesn isn wasn aren weren couldn wouldn shouldn won haven hasn hadn cant thats whats youre theyre lets us january
    february march april june july august september october november december monday tuesday wednesday thursday friday
    saturday sunday
    """
)


def _inflect(verb: str) -> set[str]:
    """Return the regular inflections of a verb, with doubled and plain consonant. A form that does not exist does no harm
    here.
    """
    if verb.endswith("ee"):
        return {verb, f"{verb}s", f"{verb}d", f"{verb}ing"}
    if verb.endswith("e"):
        return {verb, f"{verb}s", f"{verb}d", f"{verb[:-1]}ing"}
    if verb.endswith("y") and verb[-2] not in "aeou":
        return {verb, f"{verb[:-1]}ies", f"{verb[:-1]}ied", f"{verb}ing"}
    return {verb, f"{verb}s", f"{verb}es", f"{verb}ed", f"{verb}ing", f"{verb}{verb[-1]}ing", f"{verb}{verb[-1]}ed"}


VERBS_THIRD = frozenset(f"{verb}s" for verb in _VERBS if not verb.endswith(("s", "y", "ch", "sh")))
"""Common verbs in the third person, as they follow a name: starts, works."""
NON_TOPIC_WORDS = (
    STOP_WORDS | _FILLER_WORDS | _IRREGULAR | frozenset(form for verb in _VERBS for form in _inflect(verb)) | {"lying", "dying"}
)
"""English words that are never the topic of a conversation."""

DETERMINERS = _word_set(
    "a an the my your his her its our their this that these those some any every each another no new old "
    "in on at of for with from about into by during after before and "
    "mein meine meinen dein der die das den dem ein eine einen im am zum zur le la les un une mon ma mes el los las una mi mis"
)
"""Words that precede a noun more often than not, some of them German, French or Spanish."""
VERB_CUES = _word_set(
    "i you we they he she to ll not don didn doesn can could will would should never always d gonna wanna let lets who "
    "is are was were be been am so very really too feel feels felt more most as how super being stay by"
)
"""Words that precede a verb or an adjective more often than not."""

FEELINGS = _word_set(
    """
    love loved adore hate hated afraid scared terrified worried anxious nervous stressed stressful stress sad lonely
    depressed depressing cry cried crying tears heartbroken grief grieving angry furious upset hurt ashamed guilty
    embarrassed embarrassing jealous proud happy happiest excited thrilled grateful relieved overwhelmed overwhelming
    exhausted dream favorite favourite regret hope panic lucky devastated heartbreaking hopeless liebe angst traurig
    glucklich freue triste heureux heureuse peur feliz miedo felice paura
    """
)
LIFE_EVENT_WORDS = _word_set(
    """
    dies died dying death dead funeral cancer ill illness sick hospital surgery operation diagnosed diagnosis accident
    injury injured allergy allergic allergies pregnant pregnancy baby born birthday adopt adopted adopting adoption marry
    married marriage wedding engaged engagement anniversary divorce divorced breakup graduate graduated graduation exam
    exams degree promoted promotion hired fired unemployed interview moved moving mortgage debt secret promise promised
    depression therapy therapist retire retired retirement award prize won homeless robbed stolen flood arrested crash
    crashed gestorben krank hochzeit umzug geburtstag prufung mort malade mariage muerte boda enfermo
    """
)
"""Words of life events, such as illness, birth, work and moving, some of them in other languages."""
LIFE_EVENT_PAIRS = frozenset(
    {
        ("passed", "away"), ("broke", "up"), ("broken", "up"), ("breaking", "up"), ("laid", "off"), ("new", "job"),
        ("lost", "my"), ("lost", "his"), ("lost", "her"), ("left", "my"), ("leave", "my"), ("leaving", "my"), ("quit", "my"),
        ("never", "told"), ("remember", "this"), ("remember", "that"), ("don", "forget"), ("my", "first"), ("gave", "birth"),
        ("move", "to"), ("move", "out"), ("move", "in"), ("move", "away"), ("moving", "to"), ("moving", "out"),
        ("moving", "in"), ("moving", "away"), ("important", "to"), ("burned", "down"), ("means", "everything"),
    }
)  # fmt: skip
"""Pairs of adjacent words that name a life event or ask to be remembered."""
RELATIVE_WORDS = _word_set(
    """
    mother mom mum father dad parent parents sister sisters brother brothers son sons daughter daughters kid kids child
    children wife husband partner girlfriend boyfriend fiance fiancee grandmother grandma granny gran grandfather grandpa
    grandparents aunt uncle cousin cousins nephew niece boss colleague colleagues neighbor neighbour neighbors neighbours
    dog dogs cat cats puppy pup kitten pet pets roommate flatmate family mutter vater eltern schwester bruder kinder tochter
    sohn hund katze mere pere soeur frere hermana hermano madre padre
    """
)
"""Relatives, close people and pets, some of them in other languages."""
TIME_WORDS = _word_set(
    """
    yesterday today tonight tomorrow ago weekend last next monday tuesday wednesday thursday friday saturday sunday mondays
    tuesdays wednesdays thursdays fridays saturdays sundays january february april june july august september october
    november december heute morgen gestern demain hier manana ayer domani ieri
    """
)
"""Words that name a time, some of them in other languages."""
