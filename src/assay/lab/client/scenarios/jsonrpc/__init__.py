"""Messages, ids, errors, schemas."""
