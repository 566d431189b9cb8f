"""Page “Presets”: sampler, instruct and system prompt presets."""
