"""Background loops, priorities, offloading to threads, idle time and power."""
