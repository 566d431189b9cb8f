"""Application services: one package or module per group of user actions."""
