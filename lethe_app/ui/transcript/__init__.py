"""Transcript of a session: a virtualised list of messages that are parsed, laid out, painted and selected here."""
