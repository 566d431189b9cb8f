"""What was said, as the reader sees it: a virtualised list of messages that are parsed, laid out, painted and selected here."""
