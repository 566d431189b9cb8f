"""Page “Models”: models on this computer and models to download."""
