"""GGUF model files: discovery, description, download and identification."""
