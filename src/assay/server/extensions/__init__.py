"""What serves extensions: one module for each."""
