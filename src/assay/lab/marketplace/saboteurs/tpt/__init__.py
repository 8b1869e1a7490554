"""The saboteurs of the area tpt."""
