"""The prompt of a reply, part by part."""
