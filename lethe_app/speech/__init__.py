"""Speech: sentences of a streamed reply as they are spoken, and the client of the Piper synthesiser."""
