"""A store in Redis or Valkey, for many machines."""
