"""One request while it is served, and the context that its handler gets."""
