"""Editor of personas and user personas, and the list of user personas."""
