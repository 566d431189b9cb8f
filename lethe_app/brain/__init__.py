"""Rules of the personas' memory, mood, World Info and recall, without access to the database, a model or the UI."""
