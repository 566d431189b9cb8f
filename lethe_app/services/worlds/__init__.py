"""Services for worlds (lorebooks): editing, key checks and the test bench."""
