"""Requests of the user to go on in another language, such as “Please speak German” or “Sprich bitte Französisch”."""

from __future__ import annotations

import re

_NAMES = {
    "ar": "arabic arabisch arabe árabe",
    "cs": "czech tschechisch tchèque checo",
    "da": "danish dänisch danois danés dansk",
    "de": "german deutsch allemand alemán",
    "el": "greek griechisch grec griego",
    "en": "english englisch anglais inglés inglese inglês engels",
    "es": "spanish spanisch espagnol español spagnolo espanhol",
    "fi": "finnish finnisch finnois finés suomi suomea",
    "fr": "french französisch français francés francese francês frans",
    "he": "hebrew hebräisch hébreu hebreo",
    "hi": "hindi",
    "hu": "hungarian ungarisch hongrois húngaro magyarul",
    "it": "italian italienisch italien italiano",
    "ja": "japanese japanisch japonais japonés 日本語",
    "ko": "korean koreanisch coréen coreano 한국어",
    "nl": "dutch niederländisch néerlandais neerlandés nederlands",
    "no": "norwegian norwegisch norvégien noruego norsk",
    "pl": "polish polnisch polonais polaco polsku",
    "pt": "portuguese portugiesisch portugais portugués português",
    "ro": "romanian rumänisch roumain rumano română",
    "ru": "russian russisch russe ruso русски",
    "sv": "swedish schwedisch suédois sueco svenska",
    "tr": "turkish türkisch turc turco türkçe",
    "uk": "ukrainian ukrainisch ukrainien ucraniano українською",
    "zh": "chinese mandarin chinesisch chinois chino 中文",
}
_CODES = {name: code for code, names in _NAMES.items() for name in names.split()}
_ANY = "|".join(sorted(map(re.escape, _CODES), key=len, reverse=True))
_REQUESTS = tuple(
    re.compile(pattern.format(name=f"(?P<name>{_ANY})"), re.IGNORECASE)
    for pattern in (
        (
            r"^(?:(?:please|now|and|so|ok|okay|from now on|let(?:'|’)?s|let us|(?:can|could|will|would) (?:you|we)(?: please)?"
            r"|i(?:'d| would) like (?:you )?to|i want (?:you )?to|we should)[ ,]+)*"
            r"(?:speak|talk|answer|reply|write|respond|continue|go on|switch|chat|change)\b"
            r"(?: \w+){{0,3}}? (?:in |to )?{name}\b"
            r"(?= ?(?:$|[.,;:!?…]|(?:with|to|please|now|from|for|again|instead|and|today|until)\b))"
        ),
        (
            r"^(?:(?:bitte|ab jetzt|jetzt|lass(?:t)? uns|(?:kannst|könntest) du)[ ,]+)*"
            r"(?:sprich|rede|schreib|schreibe|antworte|mach|sprechen|reden|schreiben|antworten|bitte)\b"
            r"(?: \w+){{0,4}}? {name}\b"
        ),
        (
            r"^(?:(?:s(?:'|’)il te plaît|maintenant|peux-tu|pouvez-vous)[ ,]+)*"
            r"(?:parle|parlons|parler|écris|réponds|répondre|continue|continuons)\b(?: \w+){{0,3}}? (?:en )?{name}\b"
        ),
        (
            r"^(?:(?:por favor|ahora|puedes)[ ,]+)*"
            r"(?:habla|hablemos|hablar|escribe|escribir|responde|responder|sigue|sigamos|fala|falemos|parla|parliamo|rispondi)\b"
            r"(?: \w+){{0,3}}? (?:en |em |in )?{name}\b"
        ),
    )
)
_SENTENCE_END = re.compile(r"(?<=[.!?\n])\s+")


def find_requested_language(text: str) -> str:
    """Return the language in which the user asks to go on, as an ISO 639-1 code; empty if there is no such request."""
    for sentence in _SENTENCE_END.split(text[:1000]):
        for pattern in _REQUESTS:
            if match := pattern.search(sentence.strip(' *"“”«»„')):
                return _CODES[match["name"].lower()]
    return ""
