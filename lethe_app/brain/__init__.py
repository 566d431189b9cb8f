"""What the persona remembers, feels and brings up."""
