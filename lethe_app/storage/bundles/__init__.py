"""Export and import of a persona's database records."""
