"""Services for personas: presets, bundles, draft chats, goals, plans and reminders."""
