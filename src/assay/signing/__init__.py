"""Signatures: keys, the canonical JSON that is signed, and DSSE envelopes."""
