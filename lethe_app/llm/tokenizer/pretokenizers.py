r"""Pre-tokenisation of the BPE families: how text is split into words before merging, each as one regular expression for
tiktoken.

llama.cpp applies several expressions one after another for some families, each within the pieces of the previous one. They
are combined here so that the result is the same: where a piece of an earlier expression ends, a later one sees the end of
the text, which only matters to `\s+(?!\S)` and is written into its look-ahead. Families that are missing here were not
combined.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_CONTRACTIONS = "'s|'t|'re|'ve|'m|'ll|'d"
_ANY_CASE = "'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]"
_SPACES = r"\s+(?!\S)|\s+"
_BEFORE_NUMBER = r"\s+(?![^\s\p{N}])|\s+"
_WORD = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_SIGNS = r" ?[^\s\p{L}\p{N}]+"

GPT2 = rf"{_CONTRACTIONS}| ?\p{{L}}+| ?\p{{N}}+|{_SIGNS}|{_SPACES}"
SINGLE_DIGITS = rf"\p{{N}}|{_CONTRACTIONS}| ?\p{{L}}+|{_SIGNS}|{_BEFORE_NUMBER}"
LLAMA3 = rf"{_ANY_CASE}|{_WORD}|\p{{N}}{{1,3}}|{_SIGNS}[\r\n]*|\s*[\r\n]+|{_SPACES}"
QWEN2 = rf"{_ANY_CASE}|{_WORD}|\p{{N}}|{_SIGNS}[\r\n]*|\s*[\r\n]+|{_SPACES}"
QWEN35 = (
    rf"{_ANY_CASE}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|{_SPACES}"
)
MINICPM5 = rf"\p{{N}}{{1,3}}|{_ANY_CASE}|{_WORD}|{_SIGNS}[\r\n]*|\s*[\r\n]+|{_BEFORE_NUMBER}"
BAILING = rf"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|{_WORD}|\p{{N}}|{_SIGNS}[\r\n]*|\s*[\r\n]|{_SPACES}"
SEED_CODER = rf"{_ANY_CASE}|{_WORD}|\p{{N}}|{_SIGNS}|\s*[\r\n]+|{_SPACES}"

# llama.cpp distinguishes upper and lower case in ASCII only; every other letter matches both classes.
_CAPITAL, _SMALL = r"[\p{L}&&[^a-z]]", r"[\p{L}&&[^A-Z]]"
_CAMEL = (rf"[^\r\n\p{{L}}\p{{N}}]?{_CAPITAL}*{_SMALL}+", rf"[^\r\n\p{{L}}\p{{N}}]?{_CAPITAL}+{_SMALL}*")
TEKKEN = rf"{_CAMEL[0]}|{_CAMEL[1]}|\p{{N}}|{_SIGNS}[\r\n/]*|\s*[\r\n]+|{_SPACES}"
GPT4O = rf"{_CAMEL[0]}(?:{_ANY_CASE})?|{_CAMEL[1]}(?:{_ANY_CASE})?|\p{{N}}{{1,3}}|{_SIGNS}[\r\n/]*|\s*[\r\n]+|{_SPACES}"

# Every run of these characters is a piece, then GPT-2's rules apply, then runs of digits are split into threes.
_ALONE = r"\p{P}$+<=>\^~|"
DEFAULT = (
    rf"[{_ALONE}]+| ?\p{{L}}+| (?=\p{{N}})|[0-9]{{3}}|(?:(?![0-9]{{3}})\p{{N}})+"
    rf"| ?[^\s\p{{L}}\p{{N}}{_ALONE}]+|\s+(?![^\s{_ALONE}])|\s+"
)
_ALONE_FALCON = _ALONE + "`"
FALCON = (
    rf"[{_ALONE_FALCON}]+| ?\p{{L}}+| (?=[0-9]{{3}})|[0-9]{{3}}| ?(?:(?![0-9]{{3}})\p{{N}})+"
    rf"| ?[^\s\p{{L}}\p{{N}}{_ALONE_FALCON}]+|\s+(?![^\s{_ALONE_FALCON}])|\s+"
)

# Numbers in threes and runs of Chinese and kana are split off first; within those and between them the other rules apply.
_EAST = r"\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff"
_OTHER = r"[^\s\p{L}\p{M}\p{N}\p{P}\p{S}]"
_LETTERS = rf"[[\p{{L}}\p{{M}}]--[{_EAST}]]"
_EAST_LETTERS = rf"[[\p{{L}}\p{{M}}]&&[{_EAST}]]"
DEEPSEEK3 = (
    r"\p{N}{1,3}"
    r"|[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"
    rf"|[^\r\n\p{{L}}\p{{N}}\p{{P}}\p{{S}}{_EAST}]?{_LETTERS}+"
    rf"| ?[[\p{{P}}\p{{S}}]--[{_EAST}]]+[\r\n]*"
    rf"|(?:[{_OTHER}--[{_EAST}]](?!{_LETTERS}))+"
    rf"|[{_OTHER}&&[{_EAST}]]?{_EAST_LETTERS}+"
    rf"|[[\p{{P}}\p{{S}}]&&[{_EAST}]]+"
    rf"|(?:[{_OTHER}&&[{_EAST}]](?!{_EAST_LETTERS}))+"
    rf"|\s*[\r\n]+|\s+(?![^\s\p{{N}}{_EAST}])|\s+"
)


@dataclass(frozen=True)
class PreTokenizer:
    """Regular expression of a family; `ignores_merges` is True if a whole word that is a token is taken without merging."""

    pattern: str
    ignores_merges: bool = False


def _build_family(pattern: str, *names: str, ignores_merges: bool = False) -> dict[str, PreTokenizer]:
    # llama.cpp's tables are those of Unicode 15.1; later characters are unassigned there but known to tiktoken.
    dated = re.sub(r"\\p\{[LMNPS]\}", r"[\g<0>&&\\p{Age=15.1}]", pattern)
    return {name: PreTokenizer(dated, ignores_merges) for name in names}


PRE_TOKENIZERS: dict[str, PreTokenizer] = {
    **_build_family(DEFAULT, "", "default"),
    **_build_family(GPT2, "gpt-2", "phi-2", "gigachat", "a.x-4.0", "mellum", "mpt", "olmo", "jais", "trillion", "exaone4"),
    **_build_family(GPT2, "granite-docling"),
    **_build_family(
        SINGLE_DIGITS, "smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b", "mellum2"
    ),
    **_build_family(LLAMA3, "llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", ignores_merges=True),
    **_build_family(LLAMA3, "pixtral", "midm-2.0", "lfm2", ignores_merges=True),
    **_build_family(LLAMA3, "dbrx", "smaug-bpe", "glm4", "chatglm-bpe"),
    **_build_family(QWEN2, "qwen2", "deepseek-r1-qwen", "kormo", "megrez", "stablelm2", "hunyuan", "solar-open", "grok-2"),
    **_build_family(QWEN35, "qwen35"),
    **_build_family(TEKKEN, "tekken", ignores_merges=True),
    **_build_family(GPT4O, "gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"),
    **_build_family(MINICPM5, "minicpm5", ignores_merges=True),
    **_build_family(BAILING, "bailingmoe", "bailingmoe2", "llada-moe"),
    **_build_family(SEED_CODER, "seed-coder"),
    **_build_family(FALCON, "falcon"),
    **_build_family(DEEPSEEK3, "deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"),
}
"""Pre-tokenizers by the GGUF's `tokenizer.ggml.pre`; a file without that key gets the engine's default."""
