"""The lab: judges MCP servers by what they send, and keeps the frames that prove each verdict."""
