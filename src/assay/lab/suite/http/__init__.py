"""Methods, headers, statuses, sessions."""
