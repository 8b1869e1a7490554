"""Messages, ids, errors."""
