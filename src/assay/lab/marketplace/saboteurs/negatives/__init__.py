"""The saboteurs of the area negatives."""
