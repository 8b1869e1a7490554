"""Tools that ask the client by requests of their own."""
