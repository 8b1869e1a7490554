"""Servers that come with Assay. `assay serve <module>` runs the `server` of a module in this package."""
