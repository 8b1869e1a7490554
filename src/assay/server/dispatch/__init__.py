"""From a decoded message to its answer: methods, notifications, failures."""
