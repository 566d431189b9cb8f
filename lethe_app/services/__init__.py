"""What the user can do: one module per group of wishes."""
