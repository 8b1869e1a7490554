"""The scenarios of the area tpt."""
