"""Documents that a persona or a world knows: reading, storing and searching them."""
