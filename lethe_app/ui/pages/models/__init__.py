"""Models on this computer and models to download."""
