"""GGUF files: finding, describing, downloading and identifying them."""
