"""Where sessions and streams are kept: small ports, and one file per implementation."""
