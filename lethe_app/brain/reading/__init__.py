"""Reading of what people say in a conversation: which sentences they mean, and the lasting statements among them."""
