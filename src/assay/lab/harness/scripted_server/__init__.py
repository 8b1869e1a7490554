"""The lab as a server: what a client under test talks to."""
