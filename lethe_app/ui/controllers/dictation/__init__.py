"""Dictation: the microphone, and what is heard in the message box."""
