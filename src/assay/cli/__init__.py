"""The `assay` command. One module per subcommand, found by name: adding a command is adding its file.

A command has a `SUMMARY` (one line for `assay --help`), `configure(parser)`, which declares its arguments,
and `execute(options)`, which does the work and returns the exit code.
"""
