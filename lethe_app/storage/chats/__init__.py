"""Sessions with their messages, alternatives and branches; archive jobs, feedback and prompt receipts."""
