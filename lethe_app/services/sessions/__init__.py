"""Sessions: creating, editing, archiving and summarising them."""
