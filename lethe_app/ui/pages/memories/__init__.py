"""The memories of a persona."""
