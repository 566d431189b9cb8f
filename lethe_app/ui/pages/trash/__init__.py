"""Page “Trash”: deleted items that can be restored."""
