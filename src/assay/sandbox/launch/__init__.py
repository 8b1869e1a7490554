"""The program that starts a server in a sandbox: `python -I -m assay.sandbox.launch PLAN -- COMMAND …`.

It runs once for every process of a server, so it imports the standard library only.

Namespaces are entered with system calls of our own, not with bubblewrap: landlock and seccomp need a program
of ours between `fork` and `exec` anyway, every protection needs a switch so that tests can show what it is
for, and the sandbox then needs no package of the distribution.

The outer process stays in the namespaces of its caller: it owns the cgroup and relays signals. Its child,
process 1 of the new namespaces, builds the file system and reaps processes. The server is a child of that
one. If the caller dies, the outer process ends process 1, and with it the kernel ends every process of the
sandbox.
"""
