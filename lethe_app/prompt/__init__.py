"""How a turn becomes text that fits and stays cached."""
