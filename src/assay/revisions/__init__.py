"""The protocol revisions as values. Nothing outside this package spells or compares their dates."""
