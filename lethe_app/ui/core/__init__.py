"""Theme, icons, tasks and formatting, which every other package of the window uses."""
