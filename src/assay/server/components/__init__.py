"""Tools, resources, prompts, completions and methods, and their registries."""
