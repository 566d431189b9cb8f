"""Page “Worlds (lorebooks)”: editor of worlds and their entries, and a test of entries."""
