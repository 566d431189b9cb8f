"""Search across everything."""
