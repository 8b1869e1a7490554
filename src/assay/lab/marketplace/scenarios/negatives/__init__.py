"""The scenarios of the area negatives."""
