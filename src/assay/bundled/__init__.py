"""Servers that come with Assay: `assay serve <module>` serves the `server` of a module in here."""
