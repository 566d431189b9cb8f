"""The one gate to the internet, look-ups and research."""
