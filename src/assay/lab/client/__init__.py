"""The suite that judges clients."""
