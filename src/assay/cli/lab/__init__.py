"""What the commands of the lab have in common. No command itself: it must not load with the help."""
