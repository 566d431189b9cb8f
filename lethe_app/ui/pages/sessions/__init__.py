"""All conversations of a persona."""
