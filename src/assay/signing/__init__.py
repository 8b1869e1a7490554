"""What is signed, and by whom: keys, the one form of JSON that is signed, DSSE envelopes."""
