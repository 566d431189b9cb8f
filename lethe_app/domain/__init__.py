"""Domain model of the application: messages, sessions, personas, memories, worlds. Imports no package above it."""
