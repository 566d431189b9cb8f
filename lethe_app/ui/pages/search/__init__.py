"""Page “Search everything”: full-text and semantic search over messages, summaries, memories, facts, world entries and
documents."""
