"""How each line of a conversation is meant: plainly, in character, as a quotation, as a joke, or taken back."""
