"""Applications that start MCP servers: where each keeps its servers, and how an entry is written there."""
