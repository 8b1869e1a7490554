"""The guest: the lab's own scripted client. Healthy; saboteurs spoil it in one way each."""
