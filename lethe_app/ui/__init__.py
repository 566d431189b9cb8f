"""What the user sees: the only Qt, with app.py."""
