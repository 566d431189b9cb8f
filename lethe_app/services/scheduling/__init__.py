"""Loops, priorities, threads, idle time and power."""
