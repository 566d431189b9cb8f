"""Handles on llama.cpp objects (model, context, sequence state), used through ctypes."""
