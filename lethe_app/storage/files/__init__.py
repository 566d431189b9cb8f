"""JSON and Markdown files: personas, worlds, presets, settings and notebooks."""
