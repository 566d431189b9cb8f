"""Sound output and voices of the system, in a process of their own."""
