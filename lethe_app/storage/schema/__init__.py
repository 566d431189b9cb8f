"""Schema of the database: one script or module per version, never changed in effect once released."""
