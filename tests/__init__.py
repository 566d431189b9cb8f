"""Promises the program keeps."""
