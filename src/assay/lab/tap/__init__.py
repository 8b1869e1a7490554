"""Live traffic between a client and a server: passed on unchanged, recorded first, and judged beside it.

<directory>/
  tap.json                        what is tapped, and how much was recorded
  tap-<n>-<transport>.ndjson      the trace of one conversation, from the server's side
  tap-<n>.<part>-<transport>.ndjson   its continuation, after a rotation
  run.json                        the judgement, as of other stored runs
"""
