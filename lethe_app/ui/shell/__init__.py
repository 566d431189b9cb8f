"""Main window: panes, sidebar, actions, notifications, status line and welcome page."""
