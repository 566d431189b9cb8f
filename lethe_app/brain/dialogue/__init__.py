"""Classification of chat sentences: plain statements, in-character speech, quotations, jokes and retractions."""
