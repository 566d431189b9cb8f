"""Our JSON and Markdown files: personas, worlds, presets, notebooks."""
