"""Memories, facts, memories recalled per turn, working memory, and the usage of World Info entries."""
