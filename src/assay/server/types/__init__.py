"""Types of parameters and results: which library reads them, and their JSON Schema."""
