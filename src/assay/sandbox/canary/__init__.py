"""The canary: a program that tries to get out of the sandbox that it runs in."""
