"""Training on several machines: the chief, the members, and the channel between them."""
