"""Capabilities of the profile: manifests, effects of tools, resources and prompts."""

AREA = "cap"
