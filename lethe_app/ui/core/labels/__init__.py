"""Display texts of domain values, shared by pages and controllers."""
