"""Controllers that connect widgets with services."""
