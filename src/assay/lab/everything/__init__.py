"""The official suite's server scenarios, under its names, check ids and windows of revisions."""
