"""Page “Memories”: list, search, editor and recall test of a persona's memories."""
