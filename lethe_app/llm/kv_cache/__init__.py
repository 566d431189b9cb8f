"""Reuse, editing and saving of the KV cache of a chat context.

`cache` evaluates a prompt and is where to begin. `reuse` plans what is kept, `edits` records where tokens were removed or
inserted, `staging` moves cells. Memories cost little because `prompt/layout` places them late.
"""
