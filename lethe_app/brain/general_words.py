"""Word lists of the general rules: verbs that report no fact, nouns without content, moods, everyday trifles."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NO_EVENT = _words(
    """
    accepted admired admitted agreed answered appeared appreciated asked assumed believed belonged cared caught chatted
    checked cheered chose clicked concluded considered continued could cried dared depended deserved did discussed doubted
    dug encouraged ended enjoyed expected explained faced feared felt figured followed forgot found gave glanced grinned
    guessed happened hated heard helped hoped ignored imagined intended joked knew laughed let liked listened looked loved
    made managed mattered meant mentioned minded needed nodded noticed outdid owed passed paused picked preferred promised
    proved put questioned reached read realised realized recalled received recognised recognized recommended regretted
    related remained remembered replied required resonated said saw seemed sensed shared showed shrugged sighed slept smiled
    sounded spoke spotted stared stood suggested supported supposed surprised suspected talked tended thanked thought threw
    told touched trusted turned understood waited wanted was were whispered winked wished wondered worried
    """
)
"""Past forms that tell what somebody thought, felt, said or did for a moment; without an object of weight, no fact."""
SAID = _words(
    """
    admitted agreed answered appreciated asked assumed believed called chatted concluded decided discussed dreamed dreamt
    expected explained figured guessed hoped imagined joked knew meant mentioned noticed promised realised realized
    remembered replied said screamed shouted supposed suspected talked texted thanked thought told trusted understood wished
    wondered yelled
    """
)
"""Past forms of speech and thought."""
ACHIEVED = _words(
    """
    achieved adopted applied attended baked booked bought built celebrated climbed composed created designed developed
    discovered donated earned enrolled finished founded hiked hosted hurt injured launched learned learnt organised
    organized painted performed planted recorded renovated rented scored signed sprained survived toured trained traveled
    travelled twisted visited volunteered watched won wrote
    """
)
"""Past forms of what one remembers having done."""
STATIVE = _words(
    """
    agree appreciate believe bet care deserve doubt expect feel figure find forget get give go guess hate hear hope imagine
    keep know let like look love mean mind miss need notice owe promise realise realize recommend remember say see seem send
    sense should show sound suggest suppose swear take tell thank think totally trust try understand want wish wonder worry
    """
)
"""Base forms after “I” that tell what somebody thinks or feels just now."""
DURABLE = _words(
    """
    acting adopting applying attending blogging brewing building campaigning climbing coaching collecting competing
    composing creating dancing dating designing developing directing drawing dreaming editing expecting experimenting
    exploring flying fostering fundraising gardening getting graduating growing hiking hosting interning journaling knitting
    launching leading learning leaving looking making managing mentoring moving opening organising organizing painting
    performing photographing planning playing practicing practising preparing producing programming publishing raising
    reading recording recovering rehearsing renovating researching restoring retiring running saving seeing selling serving
    sewing singing specialising specializing starting streaming studying suffering swimming taking teaching thinking
    training translating traveling travelling trying tutoring using visiting volunteering working writing
    """
)
"""What somebody may be doing for weeks or years."""
HABITUAL = _words(
    """
    attend bake bike breed brew camp climb coach collect compose cook crochet cycle dance design direct donate draw drive
    edit enjoy exercise farm fish garden grow hike host hunt jog journal knit live make manage meditate meet mentor paint
    perform play practice practise produce raise read record repair restore ride run sail sell serve sew sing skate sketch
    ski speak sponsor stream study surf swim take teach train translate travel tutor visit volunteer watch work write
    """
)
"""Base forms of what somebody does again and again."""
EMPTY = _words(
    """
    able about absolutely acceptance accomplishment across activity adventure affection again ago ahead aim all almost along
    also always amazing amount another any anybody anyone appreciation approaches around assistance atmosphere atmospheres
    attempt attention autumn awareness away awesome awful back bad balance battle beautiful beauty because been being
    benefit best better big bit bits blast bond book books boost both break breakthrough breath brief brilliant bunch calm
    can career-high cause causes certain challenge challenges challenging chance change changes chat comfort common
    compassion compliments confidence confident connection connections control cool couple courage crazy creative creativity
    cute daily day days deal decent decision dedication deep deeper determination difference different difficult down dream
    dreams due during each ease easy effect effort efforts eight emotion emotions encouragement end energy enough entire
    epic error especially even event events ever every everybody everyone example excellent excited exciting experience
    experiences extra face fantastic far fear feel feeling feelings few finding fine five focus folks for forward four free
    fresh friendly from full fun funny further future gains game games general genuine give glad glimpse go goal goals going
    good gorgeous grateful gratitude great growth guy guys half happiness happy hard have healthy heart help here high hit
    hobbies hobby hooked hope hopes hour hours huge hurdle hurdles idea ideas image impact important impression incredible
    information inner insight insights inspiration inspiring instead intense interest interesting involved issue issues it
    job journey journeys joy just key kind kindness kinds knowledge last late laugh least less lesson lessons life like
    little loads long look lot lots love lovely luck lucky main major make many matter me meaning meaningful memories memory
    mess message milestone mind mindset minute minutes mistake moment moments money mood more morning most motivation much
    must near necessary need negative never new news next nice night nine nothing now obstacle obstacles off often old once
    one only open opportunity optimism option options other others out outlook outside over own pain part parts passion
    passions past path peace people perfect perseverance person personal perspective photo photos pic pics picture pictures
    piece place places plan plans platform platforms plenty point positive positivity possibilities possible power powerful
    present pretty pride problem problems process progress purpose pushing question quick quiet quite rather ready real
    really reason recent recently regular relaxing remarkable reminder resilience respect rest restaurant result results
    right rough rush sad same satisfying scary second seem self self-care sense series serious setback setbacks seven
    several shape short shot shots side similar simple since situation situations six skills small smile snacks so soft some
    somebody someone something sometimes somewhere soon sort space special spot spring start state stay step steps still
    stop story strange strength stress strong stronger struggle struggles stuff success such summer super support sure surge
    surprise sweet talent talk techniques ten term terrible than thanks that the then there thing things think third thought
    thoughts three time times tip tips today together token tonight tons too top total totally touch tough trial trouble
    true trust truth try trying turn turnaround twenty twist two types unique up use usual valuable values very vibe vibes
    video view views voice walk way ways week weekend weird well what whatever whole wild will win wins winter wish with
    within without wonder wonderful word words work world worry worse worst worth wow wrong year years yesterday yet young
    """
)
"""Words that give a clause no content of its own."""
MOODS = _words(
    """
    adorable afraid alone amazed amazing angry annoyed anxious ashamed asleep available awake aware awesome back bored broke
    busy calm cold comfortable confident confused curious cute delighted desperate determined disappointed done drained
    drunk eager early embarrassed emotional enthusiastic excited exhausted fine free freezing frustrated full furious glad
    gone good grateful great grumpy guilty happy heartbroken here hilarious home honest honored honoured hopeful hot
    hungover hungry hurt impressed inspired interested jealous kidding lame late lonely lost lucky mad moved nervous nice
    numb off ok okay optimistic overwhelmed pleased pretty proud pumped ready relieved right sad safe scared serious shocked
    sick sleepy sore sorry speechless starving stressed stuck stunned such super supportive sure surprised sweet tense
    terrified thankful thirsty thrilled tired touched unhappy unsure unwell upset warm well wet worn worried wrong
    """
)
"""What somebody is at the moment: passing states are no facts."""
TRIFLES = _words(
    """
    ate avatar balance bath bed beer beers breakfast brunch burger bus calls chat cleaned coffee cold couch cried dinner
    dishes drank email emails glass groceries hair haircut hangover headache keys laundry lunch meeting meetings mistake
    mistakes nap nightmare nothing photo pic picnic pics picture pizza poured promise rest sandwich sat shower slept snack
    bathtub queue sofa stayed tea toast toilet traffic tv wine woke yelled
    """
)
"""Everyday trifles: worth nothing next month."""
