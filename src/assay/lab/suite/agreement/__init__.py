"""What a server declares, lists, names and serves agrees."""
