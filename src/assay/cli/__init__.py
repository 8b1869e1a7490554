"""The `assay` command: one module for each subcommand, option parsers in `options/`, printers in `output/`.

A module is a subcommand if it has a `SUMMARY` (one line for `assay --help`). `configure(parser)` declares its
options; `execute(options)` calls the library, prints, and returns the exit code.
"""
