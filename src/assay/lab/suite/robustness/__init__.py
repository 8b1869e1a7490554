"""What a hostile or careless client can do to a server, and to the other clients of it."""
