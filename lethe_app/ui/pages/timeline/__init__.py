"""Page “What do you remember about me?”: facts by month and conversation."""
