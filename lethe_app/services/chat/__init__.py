"""Turns of a session: from the user's message to the stored reply, with regeneration, groups and prompt inspection."""
