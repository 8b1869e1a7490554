"""Tasks: tool calls that outlive their requests. Imported when the first tool runs as one."""
