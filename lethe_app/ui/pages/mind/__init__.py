"""Page “Mind”: mood, weekly schedule, reminders, thoughts, goals and journal of a persona."""
