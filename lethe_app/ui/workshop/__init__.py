"""The pages behind the conversation, on which everything the persona is made of can be seen, understood and changed."""
