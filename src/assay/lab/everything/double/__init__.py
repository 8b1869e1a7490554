"""Healthy stand-ins for extensions that no bundled server has yet: small, scripted, put before the server."""
