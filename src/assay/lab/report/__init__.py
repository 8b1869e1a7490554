"""Reports: one module a format, each a function of the stored run."""
