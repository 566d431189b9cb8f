"""Page “Conversations”: list, summaries, transcripts and edits of a persona's sessions."""
