"""The only handles on llama.cpp that are used through ctypes."""
