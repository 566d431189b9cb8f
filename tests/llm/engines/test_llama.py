"""The real engine with the real starter model."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import llama_cpp
import pytest

from lethe_app.domain.model import LoadOptions, StopReason
from lethe_app.domain.presets import SamplerPreset
from lethe_app.errors import ModelError, ModelMissing, ModelUnreadable
from lethe_app.llm.engines.llama import LlamaEngine, TextThrottle
from lethe_app.llm.kv_cache.diff import common_prefix_length
from lethe_app.llm.protocol import Generate
from tests.llm.damaged_weights import write_damaged
from tests.llm.gguf_factory import write_model
from tests.llm.model_files import file_at, load_engine

GREEDY = SamplerPreset(name="greedy", temperature=0)
QUESTION = "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n"


@pytest.fixture(scope="module")
def engine(starter_model: Path) -> Iterator[LlamaEngine]:
    engine = load_engine(starter_model, LoadOptions(context=4096))
    yield engine
    engine.close()


def ask(engine: LlamaEngine, prompt: str, sampler: SamplerPreset = GREEDY, **options: object):
    engine.stop.clear()
    received: list[str] = []
    usage = engine.generate(
        Generate(1, prompt, sampler, options.pop("max_tokens", 24), **options), lambda *_: None, received.append
    )
    return "".join(received), usage


def test_the_model_tells_its_own_facts(starter_model: Path):
    engine = LlamaEngine()
    fractions: list[float] = []

    facts = engine.load(file_at(starter_model), LoadOptions(context=512), fractions.append)
    engine.close()

    assert facts.context == 512
    assert "<|im_start|>" in facts.template
    assert facts.can_shift
    assert fractions
    assert fractions[-1] == 1.0


def test_it_answers(engine: LlamaEngine):
    text, usage = ask(engine, QUESTION)

    assert "Paris" in text
    assert usage.reason is StopReason.END


@pytest.mark.parametrize(
    ("tensor_part", "value", "only_last"),
    [
        ("output_norm", float("nan"), 0),
        ("output_norm", float("inf"), 0),
        ("output_norm", 0.0, 0),
        ("blk.1.ffn_norm", float("nan"), 1),
        ("output.weight", float("nan"), 64),
    ],
)
@pytest.mark.parametrize("sampler", [GREEDY, SamplerPreset(name="usual", temperature=0.8, repetition_penalty=1.1)])
def test_weights_that_are_no_numbers_are_told_instead_of_noise(
    tmp_path: Path, tiny_model: Path, tensor_part: str, value: float, only_last: int, sampler: SamplerPreset
):
    damaged = write_damaged(tmp_path / "damaged.gguf", tiny_model, tensor_part, value, only_last=only_last)
    engine = load_engine(damaged, LoadOptions(context=256))

    with pytest.raises(ModelUnreadable, match=r"The weights of “damaged\.gguf” are damaged"):
        ask(engine, QUESTION, sampler)
    with pytest.raises(ModelUnreadable, match="damaged"):
        engine.score_next_tokens("Hello", 3)
    engine.close()


def test_the_starter_model_with_weights_that_are_no_numbers_is_told(tmp_path: Path, starter_model: Path):
    damaged = write_damaged(tmp_path / "damaged.gguf", starter_model, "blk.7.attn_norm", float("nan"))
    engine = load_engine(damaged, LoadOptions(context=256))

    with pytest.raises(ModelUnreadable, match="Download the file again"):
        ask(engine, QUESTION)
    engine.close()


@pytest.mark.parametrize(
    ("architecture", "reason"),
    [("velocirax", "unknown model architecture: 'velocirax'"), ("llama", "llama.context_length")],
)
def test_a_model_that_the_engine_refuses_is_refused_with_its_reason(tmp_path: Path, architecture: str, reason: str):
    """llama.cpp tells the reason in its log, as an error: the level of a warning finds none."""
    path = write_model(tmp_path / "x.gguf", architecture, {"general.name": "X"})

    with pytest.raises(ModelUnreadable) as caught:
        load_engine(path, LoadOptions())

    assert reason in str(caught.value)
    assert "no reason" not in str(caught.value)
    assert "error loading model" not in str(caught.value)


def test_only_what_is_new_is_evaluated(engine: LlamaEngine):
    ask(engine, "<|im_start|>system\nAnother start.<|im_end|>\n")
    text, first = ask(engine, QUESTION)
    follow_up = f"{QUESTION}{text}<|im_end|>\n<|im_start|>user\nAnd of Italy?<|im_end|>\n<|im_start|>assistant\n"

    answer, second = ask(engine, follow_up)

    assert "Rome" in answer
    assert second.evaluated_tokens < second.prompt_tokens - first.prompt_tokens


def test_a_reused_cache_says_the_same_as_a_fresh_one(engine: LlamaEngine, starter_model: Path):
    ask(engine, QUESTION.replace("France", "Spain"))
    reused, usage = ask(engine, QUESTION)
    fresh_engine = load_engine(starter_model, LoadOptions(context=4096))

    fresh, _usage = ask(fresh_engine, QUESTION)
    fresh_engine.close()

    assert usage.evaluated_tokens < usage.prompt_tokens
    assert reused == fresh


def test_stop_during_prompt_evaluation_is_quick_and_leaves_a_usable_cache(engine: LlamaEngine):
    long = "<|im_start|>user\n" + "The river flows on and on. " * 500 + "<|im_end|>\n<|im_start|>assistant\n"
    engine.stop.clear()
    raised: list[float] = []

    def raise_flag() -> None:
        raised.append(time.monotonic())
        engine.stop.set()

    threading.Timer(0.3, raise_flag).start()
    usage = engine.generate(Generate(1, long, GREEDY, 8), lambda *_: None, lambda _text: None)
    ended = time.monotonic()
    text, _usage = ask(engine, QUESTION)

    assert usage.reason is StopReason.STOPPED
    assert usage.evaluated_tokens < usage.prompt_tokens
    assert ended - raised[0] < 2  # how quick it is, tests/bench/stop.py measures
    assert "Paris" in text


def test_stop_between_tokens_keeps_what_was_said(engine: LlamaEngine):
    engine.stop.clear()
    received: list[str] = []

    def say(text: str) -> None:
        received.append(text)
        if len(received) == 5:
            engine.stop.set()

    usage = engine.generate(Generate(1, QUESTION, SamplerPreset(name="x", seed=3), 500), lambda *_: None, say)

    assert usage.reason is StopReason.STOPPED
    assert len(received) in {5, 6}  # what was held back for its frame comes too


def test_a_seed_makes_a_reply_repeatable_and_another_seed_another_reply(engine: LlamaEngine):
    hot = {"name": "hot", "temperature": 1.5}

    one, _ = ask(engine, QUESTION, SamplerPreset(**hot, seed=1))
    again, _ = ask(engine, QUESTION, SamplerPreset(**hot, seed=1))
    other, _ = ask(engine, QUESTION, SamplerPreset(**hot, seed=2))

    assert one == again
    assert one != other


@pytest.mark.parametrize(
    "changes",
    [
        {"top_k": 40, "top_p": 0.9, "min_p": 0.05},
        {"typical_p": 0.9},
        {"top_n_sigma": 1.0},
        {"repetition_penalty": 1.2, "repetition_range": 64, "presence_penalty": 0.5, "frequency_penalty": 0.5},
        {"repetition_penalty": 1.2, "repetition_range": -1},
        {"dry_multiplier": 0.8},
        {"xtc_probability": 0.5},
        {"dynatemp_range": 0.2},
        {"mirostat": 1},
        {"mirostat": 2},
    ],
    ids="+".join,
)
def test_every_sampler_is_accepted_and_speaks(engine: LlamaEngine, changes: dict[str, float]):
    text, usage = ask(engine, QUESTION, SamplerPreset(name="x", seed=7, **changes))

    assert text.strip()
    assert usage.reply_tokens > 0


def test_a_strong_repetition_penalty_changes_what_is_said(engine: LlamaEngine):
    prompt = "<|im_start|>user\nRepeat: la la la la la la la la<|im_end|>\n<|im_start|>assistant\nla la la la la la"

    plain, _ = ask(engine, prompt)
    punished, _ = ask(engine, prompt, SamplerPreset(name="x", temperature=0, repetition_penalty=2.0, repetition_range=-1))

    assert punished.count("la") < plain.count("la")


def test_a_grammar_is_obeyed(engine: LlamaEngine):
    text, _ = ask(engine, QUESTION, grammar='root ::= "yes" | "no"')

    assert text in {"yes", "no"}


def test_guessing_first_says_the_same_as_asking_the_grammar_about_every_word(engine: LlamaEngine):
    grammar = r'root ::= "{\"city\": \"" [A-Za-z ]+ "\", \"country\": \"" [A-Z] [a-z]+ "\"}"'
    strict = GREEDY.model_copy(update={"presence_penalty": 1e-9})  # a preset that remembers allows no guesses

    guessed, _usage = ask(engine, QUESTION, grammar=grammar)
    plain, _usage = ask(engine, QUESTION, strict, grammar=grammar)

    assert guessed == plain
    assert guessed.startswith('{"city": "')


def test_a_broken_grammar_is_refused(engine: LlamaEngine):
    with pytest.raises(ModelError, match="grammar"):
        ask(engine, QUESTION, grammar="root ::= (")


def test_stop_strings_end_the_reply_before_they_show(engine: LlamaEngine):
    text, usage = ask(engine, QUESTION, stop=("Paris",))

    assert "Paris" not in text
    assert usage.reason is StopReason.END


def test_a_reply_ends_where_the_context_ends(starter_model: Path):
    small = load_engine(starter_model, LoadOptions(context=256))
    story = "<|im_start|>user\nTell me a very long story.<|im_end|>\n<|im_start|>assistant\n" + "Once upon a time. " * 40

    _text, usage = ask(small, story, max_tokens=2000)
    small.close()

    assert usage.prompt_tokens + usage.reply_tokens <= 256
    assert usage.reason in {StopReason.LENGTH, StopReason.END}


def test_emoji_and_other_scripts_arrive_as_whole_characters(engine: LlamaEngine):
    line = "日本語 👩‍👩‍👧 Ελλάδα שלום"
    grammar = f'root ::= "{line}"'

    text, _usage = ask(engine, QUESTION, grammar=grammar, max_tokens=80)

    assert text == line


@pytest.mark.parametrize("kv_type", ["q8_0", "q4_0"])
def test_a_quantised_cache_still_answers(starter_model: Path, kv_type: str):
    engine = load_engine(starter_model, LoadOptions(context=512, kv_type=kv_type))

    text, _usage = ask(engine, QUESTION)
    engine.close()

    assert "Paris" in text


def test_a_truncated_model_is_refused_in_one_sentence(starter_model: Path, tmp_path: Path):
    broken = tmp_path / "cut.gguf"
    broken.write_bytes(starter_model.read_bytes()[:5_000_000])

    with pytest.raises(ModelUnreadable, match=r"cut\.gguf"):
        LlamaEngine().load(file_at(broken), LoadOptions(), lambda _fraction: None)


def test_a_missing_model_is_named(tmp_path: Path):
    with pytest.raises(ModelMissing, match=r"gone\.gguf"):
        LlamaEngine().load(file_at(tmp_path / "gone.gguf"), LoadOptions(), lambda _fraction: None)


def test_the_common_prefix_is_found_wherever_two_lists_part():
    for length in range(20):
        one = list(range(20))
        other = one[:length] + [-1] * (20 - length)
        assert common_prefix_length(one, other) == length
    assert common_prefix_length([1, 2, 3], [1, 2]) == 2
    assert common_prefix_length([], [1]) == 0


def test_the_end_of_a_reply_is_evaluated_while_nobody_waits(engine: LlamaEngine):
    text, _usage = ask(engine, QUESTION)
    engine.prepare_next_turn()

    _answer, usage = ask(engine, f"{QUESTION}{text}<|im_end|>\n<|im_start|>user\nThanks.<|im_end|>\n")

    again = "\n<|im_start|>user\nThanks.<|im_end|>\n"
    assert usage.evaluated_tokens == engine.count([again])[0]


def test_text_is_handed_on_once_per_frame_and_none_is_lost():
    received: list[str] = []
    outlet = TextThrottle(received.append)

    for letter in "abcdefghij":
        outlet.write(letter)
    outlet.flush()

    assert "".join(received) == "abcdefghij"
    assert received[0] == "a"
    assert len(received) < 10


@pytest.mark.parametrize(("batch", "computed_at_once"), [(512, 128), (128, 128), (64, 64)])
def test_on_the_processor_large_batches_are_computed_in_parts(starter_model: Path, batch: int, computed_at_once: int):
    engine = load_engine(starter_model, LoadOptions(context=1024, batch=batch))
    context = engine._require_loaded()[0].context

    sizes = llama_cpp.llama_n_batch(context), llama_cpp.llama_n_ubatch(context)
    engine.close()

    assert sizes == (batch, computed_at_once)


@pytest.mark.parametrize("kind", ["llama", "embed"])
def test_a_worker_process_loads_none_of_the_libraries_of_the_window(kind: str):
    """Each would be in the memory twice, and the process would start later."""
    heavy = {"PySide6", "numpy", "jinja2", "diskcache", "httpx", "tiktoken", "hnswlib", "trafilatura", "lxml", "sqlite3"}
    code = f"""
import sys
from lethe_app.llm.engines import worker
worker.skip_high_level_api()
worker.ENGINE_KINDS[{kind!r}].create_engine()
print(*sorted({{name.split(".")[0] for name in sys.modules}}))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "llama_cpp" in run.stdout.split()
    assert not heavy & set(run.stdout.split())
