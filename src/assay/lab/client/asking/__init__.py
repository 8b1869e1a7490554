"""What servers ask of clients: forms, addresses, a model, roots; and results that ask."""
