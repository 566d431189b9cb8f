"""Readers of dates in messages: requests for past days, future dates, and dates of sentences that are stored."""
