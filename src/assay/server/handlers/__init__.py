"""The functions of authors: their signatures, their dependencies, and how they are run."""
