"""English word lists, inflection and normalisation shared by the rules."""
