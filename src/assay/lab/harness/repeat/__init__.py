"""The line that repeats a finding: messages for curl or a pipe, or the scenario again."""
