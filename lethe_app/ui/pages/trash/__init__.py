"""What was deleted and can be restored."""
