"""The words we speak: message, session, persona, memory, world. Imports no other room."""
