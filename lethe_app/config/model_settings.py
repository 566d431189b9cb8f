"""Settings of models and of the prompt; a base class of `Settings`."""

from __future__ import annotations

from pydantic import BaseModel

from lethe_app.config.form_field import SettingSection, declare_section
from lethe_app.config.options import MemoryProfile, ModelChoices, PromptLayout

# Functions that declare a setting of the section, and one among its advanced settings.
model, advanced_model = declare_section(SettingSection.MODEL)
prompt, advanced_prompt = declare_section(SettingSection.PROMPT)


class ModelSettings(BaseModel):
    """Base class of `Settings` with the sections MODEL and PROMPT."""

    # Model
    model_path: str = model("", "Model", "Model that writes the replies.")
    model_folders: list[str] = advanced_model(
        [], "Model folders", "Additional folders to search for GGUF files.", max_length=50
    )
    hub_mirror: str = advanced_model(
        "",
        "Download mirror",
        "Address of a Hugging Face mirror for model downloads; leave empty to use Hugging Face itself.",
        pattern=r"^(https?://\S+)?$",
    )
    proxy: str = advanced_model(
        "",
        "Proxy",
        "Proxy for downloads, searches and web pages, for example http://localhost:8080; leave empty for none.",
        pattern=r"^(https?://\S+)?$",
    )
    embedder_path: str = advanced_model(
        "", "Embedding model", "GGUF file that creates the embeddings for memory search; leave empty to use the bundled one."
    )
    context: int = model(
        0,
        "Context size",
        "Tokens the model can see at once (0 = the model's own limit, up to 8192); when space runs out, memories are dropped"
        " first and the oldest messages are summarised last, but never the persona or your new message.",
        ge=0,
        le=1_048_576,
        minimum_label="model's limit",
    )
    max_reply: int = model(512, "Max response tokens", "Maximum length of a reply in tokens.", ge=16, le=16_384, unit="tokens")
    gpu_layers: int = advanced_model(
        0,
        "GPU layers",
        "Layers to offload to the GPU; 0 = CPU only, -1 = all layers.",
        ge=-1,
        le=999,
        minimum_label="all layers",
    )
    threads: int = advanced_model(
        0,
        "CPU threads",
        "CPU threads used by the engine; 0 = all physical cores.",
        ge=0,
        le=256,
        minimum_label="all physical cores",
    )
    batch: int = advanced_model(512, "Batch size", "Prompt tokens processed per batch.", ge=32, le=8192)
    flash_attention: bool = advanced_model(
        False, "Flash attention", "Speed up attention on many GPUs; required for a quantised KV cache."
    )
    kv_type: str = advanced_model(
        "f16",
        "KV cache type",
        "Precision of the KV cache: f16, q8_0 or q4_0, where smaller types use less memory.",
        pattern="^(f16|q8_0|q4_0)$",
    )
    mmap: bool = advanced_model(
        True, "Memory-map (mmap)", "Map the model file into memory, so that weights are loaded as they are needed."
    )
    memory_profile: MemoryProfile = advanced_model(
        MemoryProfile.AUTOMATIC,
        "Memory profile",
        "Memory that Lethe uses; the small profile shortens the context unless you set one, ends helpers at once when idle,"
        " and is automatic below 3 GB.",
    )
    mlock: bool = advanced_model(
        False, "Lock in memory (mlock)", "Keep the weights in RAM, so that the system cannot swap them out."
    )
    read_ahead: bool = advanced_model(
        True, "Prefill while typing", "Process the prompt while you type, so that replies start sooner."
    )
    kept_states: int = advanced_model(
        1024,
        "Prompt cache on disk",
        "Megabytes of disk space for the prompt caches of your conversations, so that a reopened one need not be processed"
        " again; 0 = off, the least recently opened are deleted first, and they are as private as the conversations"
        " themselves.",
        ge=0,
        le=1_048_576,
        unit="MB",
    )
    cache_surgery: bool = advanced_model(
        True,
        "Context shift",
        "Cut messages that leave the prompt out of the KV cache instead of reprocessing the rest at once; with “Prefill"
        " while typing” the rest is reprocessed while you type.",
    )
    model_choices: dict[str, ModelChoices] = model(
        {}, "Per-model settings", "Settings for single models by file name, edited on the Models page.", is_hidden=True
    )

    # Prompt
    sampler: str = prompt("", "Sampler preset", "Preset with the sampling parameters; by default one that suits the model.")
    system_preset: str = prompt(
        "", "System prompt", "Preset that introduces the persona to the model; by default one that suits the model."
    )
    instruct: str = advanced_prompt(
        "", "Instruct format", "Preset that replaces the model's own chat template.", max_length=100
    )
    layout: PromptLayout = advanced_prompt(
        PromptLayout.LATE,
        "Position of memories",
        "Position of memories in the prompt: just above your newest message (nothing is reprocessed but what lies below a"
        " depth), in the system prompt (the whole conversation is reprocessed every turn) or among the messages (the messages"
        " below are reprocessed); world"
        " entries set to the system prompt stay there, and the whole conversation is reprocessed whenever one comes or goes.",
    )
    temperature_override: float = prompt(
        -1.0,
        "Temperature override",
        "Temperature that replaces the one of the sampler preset.",
        ge=-1.0,
        le=5.0,
        minimum_label="from preset",
        step=0.1,
    )
    thinking: bool = prompt(True, "Thinking", "Let models that support thinking think before they reply.")
