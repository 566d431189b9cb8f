"""The pages of the workshop, driven by keyboard and mouse in the real window."""
