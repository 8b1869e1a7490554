"""Bundles of evidence: their files, manifest and attestations."""
