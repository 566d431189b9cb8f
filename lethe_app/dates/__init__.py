"""English date grammar: the words of dates and numbers, and the calendar days they mean; every reader of dates builds on it."""
