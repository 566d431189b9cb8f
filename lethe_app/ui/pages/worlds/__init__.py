"""The world editor and its test bench."""
