"""Rule-based extraction of facts from English messages."""
