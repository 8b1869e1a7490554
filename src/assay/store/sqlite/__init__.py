"""A store in one SQLite file, for one machine and all its processes."""
