"""Raw transports: how the driver connects to a subject."""
