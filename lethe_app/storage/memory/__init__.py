"""Memories, facts, and what each turn recalled."""
