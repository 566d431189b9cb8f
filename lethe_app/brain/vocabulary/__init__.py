"""English word lists, inflection and normalisation that the rules share."""
