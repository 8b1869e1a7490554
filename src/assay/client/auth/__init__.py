"""Authorization of a client: options for users, and the driver of the flows in `protocol/oauth`."""
