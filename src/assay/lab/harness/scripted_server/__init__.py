"""The lab's own server, which clients under test connect to."""
