"""The report formats, for `--help`: what is really there is found in `lab/report/` (a test compares)."""

FORMATS = "text, matrix, html, junit, sarif, json or markdown"
