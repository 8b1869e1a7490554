"""The lab's own client, which follows a script of steps. Saboteurs give it one fault each."""
