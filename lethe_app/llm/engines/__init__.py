"""Engines that run inside the worker process."""
