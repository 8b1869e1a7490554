"""The suites that ship with Assay."""
