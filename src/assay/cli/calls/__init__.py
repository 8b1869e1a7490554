"""What the commands that call a server share: its address, the session, typed arguments, questions."""
