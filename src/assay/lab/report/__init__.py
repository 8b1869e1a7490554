"""Reports: one module per format, each a function of the stored run."""
