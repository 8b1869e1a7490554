"""The checks of the area tpt."""
