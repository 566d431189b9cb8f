"""The window itself: sidebar, toast, status line, welcome."""
