"""Sessions, messages, receipts and archive jobs."""
