"""Page “Network log”: all requests sent to the internet."""
