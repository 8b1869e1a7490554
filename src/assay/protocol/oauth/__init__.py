"""OAuth for clients, as generators: they yield what to do, receive what came of it, and return the outcome.

`grant.py` puts the parts together: from a challenge to a token.
"""
