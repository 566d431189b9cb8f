"""Text of notebooks: which entry belongs to which subject, and when a notebook is split."""
