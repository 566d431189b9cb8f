"""Patterns of questions with the kind of answer each expects and the sentence that question and answer make together.

Each entry is a pattern over a question without its fillers, the kind of its answer (`answer_kinds`), the full sentence in
the first person, and its key. `{what}`, `{verb}` and `{rest}` are groups of the pattern.
"""

from __future__ import annotations

from lethe_app.brain.vocabulary.entities import ANIMALS, RELATIVES

(
    NAME,
    PLACE,
    OCCUPATION,
    AGE,
    POSSESSION,
    LIKING,
    LISTED,
    PEOPLE,
    WORKPLACE,
    TIME,
    DURATION,
    RELATION,
    YES_OR_NO,
    RELATION_NAME,
) = (
    "name",
    "place",
    "calling",
    "age",
    "owned",
    "liked",
    "listed",
    "people",
    "site",
    "when",
    "span",
    "who",
    "polar",
    "theirs",
)
_LEISURE_TIME = (
    r"(?:to relax|to unwind|for fun|on (?:your|a) days? off|on (?:the )?weekends?|at weekends|with your (?:evenings|weekends|"
    r"free time|spare time|days)|in your (?:free|spare) time|when you(?:'re| are) (?:not|off|free)\b.*|outside (?:of )?work|"
    r"after work|besides work|other than work)"
)
_ASKED_RELATION = rf"(?:family|pets?|animals?|companions?|somebody special|someone special|{RELATIVES}|{ANIMALS})"
_HAVE = r"(?:(?:do|have) you (?:have|got|keep)?|is there|are there|got|have) ?"
_HOBBY_GERUND = (
    r"(?:reading|learning|studying|playing|knitting|building|growing|restoring|training for|saving(?: up)? for|"
    r"listening to|painting|crocheting|sewing|researching|teaching|writing|hauling|collecting)"
)
_HOBBY_VERB = (
    r"(?:play|drive|ride|grow|teach|study|collect|paint|brew|sell|breed|race|restore|coach|main|support|keep|speak|"
    r"knit|farm|fish for|sing)"
)
_WORKPLACE_NOUN = (
    r"(?:company|firm|hospital|school|warehouse|shop|store|factory|restaurant|bakery|bank|office|hotel|pub|bar|salon|clinic)"
)

# The first matching pattern that yields an answer wins, so the order matters.
QUESTIONS: tuple[tuple[str, str, str, str], ...] = (
    (
        (
            r"(?:what|how) (?:should|can|may|shall|do|must|am) i (?:to )?(?:call|address) you|who (?:are you|goes there|"
            r"is out there|am i (?:talking|speaking) (?:to|with))|and you are|(?:may|can) i (?:know|ask|have) your name|"
            r"do you have a name|what do (?:people|your friends|they) call you"
        ),
        NAME,
        "my name is {answer}",
        "name",
    ),
    (
        (
            r"where (?:do you live|are you (?:living|based|typing from|writing from|calling from)|are you two based|"
            r"abouts (?:do you live|are you)|is home|do you call home|in the world are you)(?: at this hour| now)?|where's "
            r"home|where in [A-Z][\w ]+ (?:do you live|are you(?: based)?)|where exactly(?: do you live| are you)?|"
            r"whereabouts(?: do you live| are you(?: based)?)?"
        ),
        PLACE,
        "I live in {answer}",
        "home",
    ),
    (
        (
            r"(?:and )?where (?:did you grow up|were you (?:born|raised)|is home,? (?:originally|before .+)|do you come from|"
            r"are you from)(?: originally)?|what part of [A-Z]\w+ are you from|from where do you come"
        ),
        PLACE,
        "I come from {answer}",
        "origin",
    ),
    (
        (
            r"what (?:do you do|kind of work (?:do you do|.+)|sort of work .+|line of work .+|do you work as|work do you do|"
            r"keeps you busy)(?: for (?:a living|work|money))?|what(?:'s| is) your (?:job|trade|work|line of work|profession)|"
            r"(?:and )?what (?:kind|sort) of (?:job|work)(?: is (?:it|that))?"
        ),
        OCCUPATION,
        "I am {answer}",
        "job",
    ),
    (
        r"what did you (?:do|work as)(?: for (?:a living|work))? before(?: that)?|(?:and )?(?:what about )?before that",
        OCCUPATION,
        "I was {answer}",
        "",
    ),
    (
        (
            r"(?:and )?(?:how old are you|how many years have you|how old is old|what age are you|"
            r"may i ask your age)(?: now)?"
        ),
        AGE,
        "I am {answer}",
        "age",
    ),
    (
        (
            rf"(?:and |so |but )?(?:{_HAVE})?(?:any |an? |some |your |with )?{_ASKED_RELATION}(?:(?: or | and |, | & )"
            rf"(?:any |an? "
            rf")?{_ASKED_RELATION})*(?: at home| waiting at home| "
            r"waiting for you| nearby| yourself| of your own| yet| in your life| at all| around)?"
        ),
        POSSESSION,
        "I have {answer}",
        "",
    ),
    (r"(?:and )?(?:who's|who is) (?P<name>[a-z][a-z]+)", RELATION, "my {answer} is called {name}", "{answer} name"),
    (
        (
            r"(?:and |so )?(?:what's|what is|what was|what are|what were) (?:(?:his|her|its|their) names?|(?:he|she|it|they) "
            r"called)|(?:and )?(?:does|do|did|has|have) "
            r"(?:he|she|it|they) (?:have |got )?(?:an? )?names?|what do you call (?:him|her|it|them)"
        ),
        RELATION_NAME,
        "my {answer}",
        "",
    ),
    (
        r"(?:and )?how old (?:is|are) (?P<whose>he|she|it|they|your [a-z ]+|[A-Z][a-z]+)(?: now)?",
        AGE,
        "{whose} is {answer}",
        "",
    ),
    (
        r"(?:and )?what does (?P<whose>he|she|your [a-z]+|[A-Z][a-z]+) do(?: for (?:a living|work))?",
        OCCUPATION,
        "{whose} is {answer}",
        "",
    ),
    (
        (
            r"(?:and )?where (?:is|does|'s) (?P<whose>he|she|your [a-z]+|[A-Z][a-z]+)(?: (?:live|based|living))?(?: now| these "
            r"days| today)?"
        ),
        PLACE,
        "{whose} lives in {answer}",
        "",
    ),
    (
        (
            r"(?:and |so )?are you (?P<what>(?:afraid|scared|terrified|allergic|fluent|religious|married|single|divorced|"
            r"retired|vegetarian|vegan|left-handed|"
            r"an only child|a (?:student|nurse|teacher|morning person|cat person|dog person|reader))(?: (?:of|to|in) [a-z]+)?)"
        ),
        YES_OR_NO,
        "I am {answer}",
        "",
    ),
    (
        (
            r"(?:and |so )?do you (?P<does>(?:live alone|work nights|speak [a-z]+|play (?:the )?[a-z]+|sing|cook|bake|garden|"
            r"drive|smoke|drink|swim|dance|paint|ski|"
            r"knit|believe in [a-z]+|eat meat|wear glasses|like [a-z]+))(?: at all| much| yourself)?"
        ),
        YES_OR_NO,
        "I {answer}",
        "",
    ),
    (
        (
            r"(?:and |so )?who (?:waits for you at home|do you live with|lives with you|is at home with you|is in your family|"
            r"is waiting at home)|(?:and )?have you (?:any )?(?:children|kids|companions|pets|siblings)\b.*"
        ),
        POSSESSION,
        "I have {answer}",
        "",
    ),
    (
        (
            rf"(?:and |so )*what do you (?:like to |usually |normally |love to )?(?:do|get up to) {_LEISURE_TIME}|(?:and )"
            rf"?(?:any|what "
            rf"are your|"
            r"do you have(?: any)?|got any) (?:hobbies|hobby|passions?|pastimes)|how do you (?:relax|unwind|spend your .+)|"
            r"what do you (?:like|enjoy|love)(?: doing| to do)?"
        ),
        LIKING,
        "I enjoy {answer}",
        "",
    ),
    (
        rf"(?:and |so )?what (?:[a-z]+ )?are you (?P<verb>{_HOBBY_GERUND})(?: these days| now| at the moment)?",
        LISTED,
        "I am {verb} {answer}",
        "",
    ),
    (
        (
            rf"(?:and |so )?(?:what|which) (?:(?P<what>[a-z]+|kind of \w+|sort of \w+) )?do you (?P<verb>{_HOBBY_VERB})(?: "
            rf"there| then| mostly| usually)?"
        ),
        LISTED,
        "I {verb} {answer}",
        "",
    ),
    (r"what (?:subject|subjects|age) do you teach", LISTED, "I teach {answer}", ""),
    (r"(?:and )?who do you (?P<verb>main|support|follow)", LISTED, "I {verb} {answer}", ""),
    (
        r"(?:and )?who do you (?P<verb>play|live|work|sing|climb|train|walk|fish|run|travel|cycle|swim) (?:there )?with",
        PEOPLE,
        "I {verb} with {answer}",
        "",
    ),
    (
        rf"(?:which|what) (?:one|{_WORKPLACE_NOUN})(?: is (?:it|that)| do you work (?:at|in|for))?|who do you work for",
        WORKPLACE,
        "I work {answer}",
        "employer",
    ),
    (
        (
            r"(?:which|what) (?:university|uni|college)(?: is (?:it|that)| do you go to)?|where do you (?:study|go to "
            r"(?:university|uni|college|school))"
        ),
        WORKPLACE,
        "I study {answer}",
        "",
    ),
    (
        (
            r"when do you (?P<verb>start|begin|finish|leave|fly|move|retire|graduate|travel)(?P<rest>(?: (?!it\b|that\b|them\b|"
            r"there\b)[a-z]+){0,4})"
        ),
        TIME,
        "I {verb}{rest} {answer}",
        "",
    ),
    (
        (
            r"when did you (?P<past>start|begin|finish|leave|move|retire|graduate|quit|stop|marry|get married|divorce|lose|buy|"
            r"join|adopt)"
            r"(?P<rest>(?: (?!it\b|that\b|them\b|there\b|him\b|her\b)[a-z]+){0,4})"
        ),
        TIME,
        "I {verb}{rest} {answer}",
        "",
    ),
    (
        (
            r"how long have you (?:been )?(?P<verb>married|together|vegetarian|vegan|sober|retired|a \w+|an \w+|(?:playing|"
            r"living|working|"
            r"learning|teaching|driving|climbing|painting|knitting|collecting|singing|running|studying)(?: (?!it\b|that\b|"
            r"there\b)[\w']+){0,4})"
        ),
        DURATION,
        "I have been {verb} {answer}",
        "",
    ),
    (
        (
            r"how long have you (?P<verb>lived|worked|taught|played|known|had|owned)(?P<rest>(?: (?!it\b|that\b|there\b|him\b|"
            r"her\b|them\b)[\w']+){1,4})"
        ),
        DURATION,
        "I have {verb}{rest} {answer}",
        "",
    ),
    (
        r"are you married|(?:and )?are you (?:two )?(?P<verb>together|married)(?: long)?",
        DURATION,
        "I have been married {answer}",
        "",
    ),
    (
        (
            r"how long have you (?:done|been doing|been at|been in|worked) (?:that|this|it|there)|(?:have you )?been (?:at|"
            r"doing) (?:it|that) (?:for )?long|have you been at it (?:for )?long"
        ),
        DURATION,
        "I have been {work} {answer}",
        "job",
    ),
)
