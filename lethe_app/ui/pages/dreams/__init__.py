"""Page “Dreams”: memory changes proposed or made by the background task that consolidates memories."""
