"""Turns a JSON schema into the grammar that keeps a model to it, with the converter that comes with llama-cpp-python."""

from __future__ import annotations

from functools import lru_cache

from llama_cpp.llama_grammar import json_schema_to_gbnf

from lethe_app.errors import ModelError


@lru_cache(maxsize=64)
def grammar_of(schema: str) -> str:
    """GBNF with a rule `root`. References are followed inside the schema only. Raises ModelError."""
    try:
        return str(json_schema_to_gbnf(schema))
    except Exception as error:  # a converter that is handed something else raises whatever comes first
        raise ModelError(f"This JSON schema cannot be turned into a grammar: {type(error).__name__} {error}.") from error
