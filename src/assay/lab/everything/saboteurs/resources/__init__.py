"""Resources: lists, readings, subscriptions."""
