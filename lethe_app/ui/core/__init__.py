"""Theme, icons, async tasks, formatting and other infrastructure that all packages of the window use."""
