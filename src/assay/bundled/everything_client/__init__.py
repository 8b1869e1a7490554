"""A client for conformance suites: `python -m assay.bundled.everything_client URL`."""
