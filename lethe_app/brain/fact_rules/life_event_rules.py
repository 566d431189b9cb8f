"""Rules for sentences that begin with “I” and are about the speaker's life: lasting states, past events and plans.

Patterns and keys as in `first_person_rules`.
"""

from __future__ import annotations

from lethe_app.brain.vocabulary.entities import EVENTS, LIFE_EVENT_VERBS
from lethe_app.brain.vocabulary.phrases import DURATION, RELATIVE_OR_ANIMAL, TIME

LIFE_EVENT_RULES: tuple[tuple[str, str], ...] = (
    # what has been
    (
        (
            r"i have been (?:(?!looking for|waiting|searching|hoping|trying|thinking|meaning|wondering|(?:playing|doing|"
            r"going|working|feeling|saying|seeing|talking) (?:for|since|over)|feeling|asking)\w+ing|married|engaged|single|"
            rf"divorced|vegan|vegetarian|sober|widowed|a |an |in |together|with )\b.*{DURATION}"
        ),
        "",
    ),
    (
        (
            r"i have (?:lived|worked|played|known|loved|owned|studied|taught|kept|wanted|practi[sc]ed|collected|been (?:in|"
            rf"at|with|on)|had|run|spoken|hated|dreamed|dreamt|painted|written|sung|served|sailed|travelled) .*{DURATION}"
        ),
        "",
    ),
    (
        (
            r"i have (?:lived|worked|travelled|sailed|been|taught|served|studied) (?:to|in|at|as|(?<=lived )with|through|"
            r"across) (?!(?:the )?(?:shop|bed|loo|bathroom|love|trouble|a (?:bad|good|weird) mood)|this|that|it|here|"
            r"there).+"
        ),
        "",
    ),
    (
        (
            r"i have never (?!(?:seen|heard|felt|said|met|thought|been so|been more|known|noticed|told|understood|looked|"
            r"asked|wanted|done|had (?:such|so|a (?:conversation|chat)))\b)\w+ .+"
        ),
        "",
    ),
    (
        (
            r"i (?:have )?never (?:had|learned|learnt|finished|went|met|knew|married|eat|drink|smoked?|learned|owned|liked|"
            r"drank|ate) (?!that|it|this|you|your|thought|time|a chance|the chance).+"
        ),
        "",
    ),
    (r"i was an? (?!bit\b|little\b|mess\b|wreck\b|fool\b|idiot\b|while\b).+ (?:in|at|for|until|once|before|as a) .+", ""),
    (
        (
            r"i (?:lost|buried) (?:my|an?|two|three|one|half|both) "
            r".*(?:" + RELATIVE_OR_ANIMAL + r"|toes?|fingers?|legs?|arms?|eyes?|hand|"
            r"foot|job|home|house|leg|hearing|sight)\b.*"
        ),
        "!",
    ),
    (
        (
            r"i (?:won|published|adopted|married|became|founded|survived|inherited|proposed to my|graduated|divorced|"
            r"gave up|quit (?:my|smoking|drinking)|built (?:a|an|my own)|wrote an?|moved (?:to|from|in with|back in with|out|"
            r"into|"
            r"back to|here from)|ran (?:my|a) (?:first |second )?(?:half[- ])?marathon|broke my(?! promise| word)|met my|"
            r"have moved to|"
            r"have quit|have given up|broke up with|split up with|traded|"
            r"passed (?:my|the)|failed (?:my|the)) (?!it|this|that|you|your|him|her|them|"
            r"over|on|away).*"
        ),
        "!",
    ),
    (
        (
            rf"i (?:have )?(?:just )?{LIFE_EVENT_VERBS} (?!up to|into the|out of the|to bed|to sleep|over to|(?<!left )"
            rf"home\b|back\b|"
            r"wondering|thinking|some (?:sleep|coffee)|up\b|an? (?:few |couple of )?(?:days?|weeks?|months?|years?) ago|"
            r"the (?:idea|feeling|impression|chance|sense)|yesterday|last|today|my (?:promise|word|record|fast)\b|a (?:\w+ "
            r")?(?:headache|hangover|cold|nightmare|meeting|call|pic|photo|picture|time|day|"
            r"game|incident|experience|setback|blast|look|dream(?: .*)?|chat|nap|break|bath|shower|picnic|walk|coffee|"
            rf"laugh|bite|drink|snack)\b|lunch|dinner|breakfast|to work|shopping|out\b|this|that|it\b|so\b).*{TIME}.*"
        ),
        "!",
    ),
    (
        (
            r"i (?:was|got) (?:bitten|struck|hit|shot|knighted|arrested|fired|promoted|diagnosed|adopted|elected|expelled|"
            r"raised|orphaned|shipwrecked|married|engaged|divorced|laid off|baptised|hired|accepted|awarded|exiled|banished|"
            r"hospitalised|robbed)\b.*"
        ),
        "!",
    ),
    (
        (
            r"i (?:have )?(?:hurt|broke|broken|sprained|twisted|injured|pulled|tore|dislocated|fractured) my (?:\w+ "
            r")?(?:back|knee|ankle|wrist|arm|leg|"
            r"foot|hip|shoulder|neck|hand|finger|toe|nose|rib|hamstring|collarbone|elbow)s?\b.*"
        ),
        "!",
    ),
    # what is to come
    (
        (
            r"i (?:am|will be|will|am going to|plan to|am planning to|am hoping to|am due to|"
            r"intend to)(?: be)? (?!(?:cooking|eating|start(?:ing)? (?:in|on|next|this|tomorrow)|working (?:on|late|this|"
            r"next|all)|going to (?:the (?:shop|store|gym|"
            r"supermarket|toilet|bathroom)|bed|sleep|work)|watching|cleaning|washing|making|ordering|wearing|calling|"
            r"drinking|having|staying|sleeping|baking|reading)\b|.*\b(?:tonight|today)\b|feeling|thinking|looking|"
            r"wondering|remembering|getting (?:better|tired|sick|ready)|having|doing|talking|saying|going crazy|going mad|"
            r"sitting|staying up|asking|busy|so|too|very|tired|sick|happy|sad|excited|nervous|glad|sorry|free|off to bed|"
            r"back (?:at|by)|done|fine|ok|okay|sure|not|only|as|a bit|tell|let|see you|talk|be back|show you|think|try|"
            r"take a|get back|come back|hold|never|go to bed|miss|help|give you|bring you|ask|remember|leaving you|send|"
            rf"keep|do my)\w+.*{TIME}.*"
        ),
        "!",
    ),
    (
        (
            r"i (?:am|have been) (?:going to be\b|planning to become|moving (?:to (?!the (?:couch|sofa|other|next|window|"
            r"kitchen|bed|door|back|left|right))|in with|back to|into)|getting married|getting divorced|"
            r"expecting (?:an? (?:baby|child|boy|girl|grandchild)|twins)|writing (?:a|my) (?:novel|book|thesis|memoir|"
            r"dissertation|play|screenplay)|building (?:a|my own)|learning (?:to|the|how to)?|saving (?:up )?(?:for|to)|"
            r"training (?:for|to|as)|applying (?:for|to)|restoring an?|practi[sc]ing|volunteering|raising|"
            r"taking (?:\w+ )?(?:lessons|classes)|starting (?:a|my|at)|going back to (?:school|university|college)|"
            r"waiting for an? (?:\w+ )?(?:operation|surgery|transplant|diagnosis|visa)|trying to (?:quit|learn|lose|"
            r"have a baby|get pregnant)|working (?:on (?:my|a) \w+|towards)) ?(?!you|it|this|that|something).*"
        ),
        "!",
    ),
    (rf"i (?:have|have got|am having) (?:an?|my|the|another|two) (?:[\w'-]+ ){{0,3}}?{EVENTS}\b.*{TIME}.*", "!"),
    (rf"i (?:start|begin|finish|leave for|fly to|graduate|get married|retire|move|travel to) .*{TIME}.*", "!"),
)  # fmt: skip
