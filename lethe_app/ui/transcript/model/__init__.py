"""The Qt model of the messages on display."""
