"""Finding, listing and browsing what is stored."""
