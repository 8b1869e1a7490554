"""The checks of the area negatives."""
