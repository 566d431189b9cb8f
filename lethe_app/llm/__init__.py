"""Language models in a worker process: client, protocol, engines, KV cache, GGUF files and tokenizers."""
