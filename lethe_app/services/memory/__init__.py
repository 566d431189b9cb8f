"""Recall for a turn, and the memories and facts as the window edits them."""
