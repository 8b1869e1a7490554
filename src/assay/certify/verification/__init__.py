"""Verification of bundles: offline, step by step."""
