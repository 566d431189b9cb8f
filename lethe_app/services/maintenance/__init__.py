"""Services for diagnosis, backups, the trash, and the single instance of a home."""
