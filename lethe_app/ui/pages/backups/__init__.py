"""Page “Backups”: what each backup contains, and restoring one."""
