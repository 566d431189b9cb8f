"""Services for chat models: loading, memory estimates, downloads and tests."""
