"""What the engine's own samplers make of the candidates for a token, without any model."""

from __future__ import annotations

import math

import pytest

from lethe_app.domain.model import NextWords, SamplingStep
from lethe_app.domain.presets import SamplerPreset
from lethe_app.llm.engines.llama_sampling import preview_sampling

LOGITS = [10.6, 9.5, 8.4, 8.2, 7.9, 7.6, 7.1, 6.4, 5.0, 4.4, 3.0, 2.0, 1.5, 0.2, -1.0, -1.5, -3.0, -4.0, -4.2, -6.0]
CANDIDATES = NextWords(tuple((f"w{place}", logit) for place, logit in enumerate(LOGITS)))


def steps_of(candidates: NextWords = CANDIDATES, **values: float) -> tuple[SamplingStep, ...]:
    return preview_sampling(SamplerPreset.model_validate({"name": "x", **values}), candidates)


def softmax(logits: list[float]) -> list[float]:
    total = sum(math.exp(logit) for logit in logits)
    return [math.exp(logit) / total for logit in logits]


def test_each_step_has_the_candidates_that_its_sampler_left():
    steps = steps_of(top_k=12, top_p=0.95, min_p=0.1, temperature=1.0)

    assert [step.sampler for step in steps] == ["", "top-k", "top-p", "min-p", "temp-ext"]
    assert [step.kept_count for step in steps] == [20, 12, 6, 3, 3]
    assert steps[0].probabilities == pytest.approx(softmax(LOGITS), abs=1e-6)
    assert steps[1].probabilities == pytest.approx([*softmax(LOGITS[:12]), *[0.0] * 8], abs=1e-6)


def test_the_temperature_divides_the_logits():
    assert steps_of(temperature=1.7)[-1].probabilities == pytest.approx(softmax([one / 1.7 for one in LOGITS]), abs=1e-6)


def test_a_temperature_of_zero_leaves_the_likeliest_token():
    last = steps_of(temperature=0.0)[-1]

    assert (last.sampler, last.probabilities[:2], last.kept_count) == ("greedy", (1.0, 0.0), 1)


@pytest.mark.parametrize(
    ("values", "kept"), [({"top_n_sigma": 1.0}, 8), ({"typical_p": 0.6}, 2), ({"top_p": 0.35}, 1), ({"min_p": 0.1}, 3)], ids=str
)
def test_a_sampler_removes_the_candidates_it_is_meant_to(values: dict[str, float], kept: int):
    last = steps_of(temperature=1.0, **values)[-1]

    assert last.kept_count == kept
    assert sum(probability > 0 for probability in last.probabilities) == kept


@pytest.mark.parametrize(
    "values", [{"xtc_probability": 1.0}, {"mirostat": 1}, {"mirostat": 2}, {"dry_multiplier": 0.8}], ids=str
)
def test_what_is_random_or_depends_on_previous_tokens_is_left_out(values: dict[str, float]):
    assert steps_of(temperature=1.0, **values)[-1].probabilities == pytest.approx(softmax(LOGITS), abs=1e-6)


def test_candidates_counted_in_groups_count_as_what_they_are():
    grouped = NextWords(CANDIDATES.words[:12], ((1.0, 3), (-4.0, 5)))
    single = NextWords((*CANDIDATES.words[:12], *((f"l{n}", 1.0) for n in range(3)), *((f"m{n}", -4.0) for n in range(5))))

    for values in ({"top_k": 14}, {"top_p": 0.9999, "temperature": 2.0}):
        one, other = steps_of(grouped, **values)[-1], steps_of(single, **values)[-1]
        assert one.probabilities == pytest.approx(other.probabilities[:12])
        assert one.others == pytest.approx(sum(other.probabilities[12:]))
        assert one.kept_count == other.kept_count


def test_all_probabilities_of_a_step_together_are_one():
    for step in steps_of(NextWords(CANDIDATES.words, ((-7.0, 4000),)), min_p=0.05):
        assert sum(step.probabilities) + step.others == pytest.approx(1)


def test_without_candidates_there_is_no_step():
    assert steps_of(NextWords(())) == ()
