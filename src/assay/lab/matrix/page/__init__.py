"""The page of a matrix: one HTML file that needs nothing else."""
