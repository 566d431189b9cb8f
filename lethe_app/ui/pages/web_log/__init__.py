"""What left this computer."""
