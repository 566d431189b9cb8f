"""Answer shapes of the tasks given to a language model, and their checks."""
