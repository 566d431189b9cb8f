"""Sampler presets of SillyTavern's text completion and of KoboldAI."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pydantic import JsonValue

from lethe_app.domain.import_notes import ImportNotes, NoteKind
from lethe_app.domain.presets import SamplerPreset
from lethe_app.errors import FileError
from lethe_app.interchange.field_reader import FieldReader
from lethe_app.interchange.json_text import JsonObject, parse_json_text

FIELDS: Mapping[str, tuple[str, float, float, float]] = {
    "temperature": ("temp", 0.7, 0.0, 5.0),
    "top_p": ("top_p", 1.0, 0.001, 1.0),
    "min_p": ("min_p", 0.0, 0.0, 1.0),
    "typical_p": ("typical_p", 1.0, 0.001, 1.0),
    "top_n_sigma": ("nsigma", 0.0, 0.0, 100.0),
    "repetition_penalty": ("rep_pen", 1.0, 0.01, 3.0),
    "presence_penalty": ("presence_pen", 0.0, -2.0, 2.0),
    "frequency_penalty": ("freq_pen", 0.0, -2.0, 2.0),
    "dynatemp_exponent": ("dynatemp_exponent", 1.0, 0.01, 100.0),
    "xtc_threshold": ("xtc_threshold", 0.1, 0.0, 1.0),
    "xtc_probability": ("xtc_probability", 0.0, 0.0, 1.0),
    "dry_multiplier": ("dry_multiplier", 0.0, 0.0, 100.0),
    "dry_base": ("dry_base", 1.75, 1.0, 100.0),
    "mirostat_tau": ("mirostat_tau", 5.0, 0.0, 100.0),
    "mirostat_eta": ("mirostat_eta", 0.1, 0.0, 100.0),
}
"""Field of SillyTavern, default, minimum and maximum by our field."""
WHOLE_FIELDS: Mapping[str, tuple[str, int, int, int]] = {
    "top_k": ("top_k", 0, 0, 1_000_000),
    "repetition_range": ("rep_pen_range", 0, -1, 1_000_000),
    "dry_allowed_length": ("dry_allowed_length", 2, 1, 1000),
    "dry_range": ("dry_penalty_last_n", -1, -1, 1_000_000),
    "mirostat": ("mirostat_mode", 0, 0, 2),
    "seed": ("seed", -1, -1, 2**32 - 1),
}
"""The same for whole numbers."""
WITHOUT_EFFECT: Mapping[str, tuple[float, ...]] = {
    "top_a": (0.0,),
    "tfs": (1.0,),
    "epsilon_cutoff": (0.0,),
    "eta_cutoff": (0.0,),
    "no_repeat_ngram_size": (0.0,),
    "smoothing_factor": (0.0,),
    "guidance_scale": (1.0,),
    "rep_pen_decay": (0.0,),
    "rep_pen_slope": (0.0, 1.0),
    "repetition_penalty_slope": (0.0, 1.0),
    "encoder_rep_pen": (1.0,),
    "encoder_repetition_penalty": (1.0,),
    "penalty_alpha": (0.0,),
    "length_penalty": (1.0,),
    "num_beams": (1.0,),
    "skew": (0.0,),
    "smoothing_curve": (1.0,),
    "tail_free_sampling": (1.0,),
    "cfg_scale": (1.0,),
    "repetition_penalty_frequency": (0.0,),
    "repetition_penalty_presence": (0.0,),
}
"""Samplers that the engine does not have, with the values that switch them off."""
FILLED_WITHOUT_EFFECT = (
    *("banned_tokens", "global_banned_tokens", "logit_bias", "grammar_string", "grammar", "json_schema", "negative_prompt"),
    *("ban_eos_token", "ignore_eos_token", "bypass_eos"),
)
"""Texts, lists and flags that have no counterpart."""
ALIASES = {
    "temperature": "temp",
    "typical": "typical_p",
    "nsigma": "top_n_sigma",
    "repetition_penalty": "rep_pen",
    "repetition_penalty_range": "rep_pen_range",
    "frequency_penalty": "freq_pen",
    "presence_penalty": "presence_pen",
    "mirostat": "mirostat_mode",
    "mirostat_lr": "mirostat_eta",
    "sampler_seed": "seed",
    "UniqueName": "name",
}
"""Fields of SillyTavern by the names that other programs have for them, the original Lethe among them."""
CHAT_COMPLETION_MARKS = frozenset(
    {"prompts", "prompt_order", "chat_completion_source", "openai_model", "openai_max_context", "openai_max_tokens"}
    | {"claude_model", "reverse_proxy", "proxy_password", "temp_openai", "top_p_openai", "stream_openai", "main_prompt"}
    | {"nsfw_prompt", "jailbreak_prompt", "impersonation_prompt", "new_chat_prompt", "assistant_prefill"}
)
"""Fields that only presets for services on the internet have, one of which is enough; they are about prompts, not samplers."""


def is_sampler_preset(values: Mapping[str, JsonValue]) -> bool:
    """Return whether these are the parameters of samplers."""
    return sum(name in values for name in ("temp", "temperature", "top_p", "top_k", "rep_pen", "min_p", "typical_p")) >= 3


def read_sampler(values: Mapping[str, JsonValue], name: str, notes: ImportNotes) -> SamplerPreset:
    """Return a sampler preset; it has no name of its own, so that it gets that of its file."""
    values = {ALIASES[field]: value for field, value in values.items() if field in ALIASES} | dict(values)
    fields = FieldReader(values, notes)
    for field, off in WITHOUT_EFFECT.items():
        value = FieldReader(values).optional_decimal(field, -1e9, 1e9)
        if value is not None and value not in off:
            notes.add(NoteKind.NO_EFFECT, field)
    for field in FILLED_WITHOUT_EFFECT:
        filled = values.get(field)
        if filled.strip() if isinstance(filled, str) else filled:
            notes.add(NoteKind.NO_EFFECT, field)
    numbers: dict[str, float] = {ours: fields.decimal(*spec) for ours, spec in FIELDS.items()}
    numbers |= {ours: fields.number(*spec) for ours, spec in WHOLE_FIELDS.items()}
    if fields.flag("dynatemp"):
        low, high = fields.decimal("min_temp", 0.0, 0.0, 10.0), fields.decimal("max_temp", 2.0, 0.0, 10.0)
        numbers |= {"temperature": min(5.0, (low + high) / 2), "dynatemp_range": min(5.0, max(0.0, (high - low) / 2))}
    elif "dynatemp_range" in values:
        numbers["dynatemp_range"] = fields.decimal("dynatemp_range", 0.0, 0.0, 5.0)
    changes: dict[str, object] = {**numbers}
    if breakers := _read_breakers(values, notes):
        changes["dry_breakers"] = breakers
    return SamplerPreset.model_validate({"name": fields.text("name").strip() or name, **changes})


def _read_breakers(values: Mapping[str, JsonValue], notes: ImportNotes) -> list[str]:
    """Return the sequence breakers of DRY: a JSON array inside a string, or a list."""
    found = values.get("dry_sequence_breakers")
    if isinstance(found, str) and found.strip().startswith("["):
        try:
            found = parse_json_text(found, "", notes)
        except FileError:
            notes.add(NoteKind.WRONG_TYPE, "dry_sequence_breakers", found="string")
    return [one for one in found if isinstance(one, str) and one] if isinstance(found, list) else []


def write_sampler(preset: SamplerPreset) -> JsonObject:
    """Return a sampler preset for SillyTavern's text completion."""
    written: JsonObject = {theirs: getattr(preset, ours) for ours, (theirs, *_) in {**FIELDS, **WHOLE_FIELDS}.items()}
    has_range = preset.dynatemp_range > 0
    return written | {
        "dynatemp": has_range,
        "min_temp": max(0.0, preset.temperature - preset.dynatemp_range) if has_range else 0.0,
        "max_temp": preset.temperature + preset.dynatemp_range if has_range else 2.0,
        "dry_sequence_breakers": json.dumps(preset.dry_breakers, ensure_ascii=False),
    }
