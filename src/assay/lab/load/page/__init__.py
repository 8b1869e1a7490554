"""The page of a load test."""
