"""A hostile and an ordinary client on one server: `python -m bench.hostile`."""
