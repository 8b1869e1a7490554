"""Golden runs: recordings that later runs are compared with."""
