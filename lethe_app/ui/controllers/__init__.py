"""Connect widgets with services."""
