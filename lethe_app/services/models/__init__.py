"""Loading, fitting, downloading and trying models."""
