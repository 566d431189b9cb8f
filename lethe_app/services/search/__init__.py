"""Services for search, memory lists and the timeline of facts."""
