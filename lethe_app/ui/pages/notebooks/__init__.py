"""Page “Notebooks”: text files that a persona keeps about recurring subjects."""
