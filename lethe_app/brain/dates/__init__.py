"""Date grammar of English messages: past, future and arithmetic."""
