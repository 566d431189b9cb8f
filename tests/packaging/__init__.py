"""Tests of what is handed to others: the wheel, the locks and the set-up."""
