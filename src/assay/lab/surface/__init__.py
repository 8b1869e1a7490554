"""What a server lists, read as hosts and models read it: cost, wording, and schemas that are refused."""
