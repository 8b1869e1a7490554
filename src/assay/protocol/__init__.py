"""The protocol as values: messages in, what happened and what must be sent out."""
