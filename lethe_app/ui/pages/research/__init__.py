"""Research a persona did."""
