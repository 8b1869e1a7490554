"""Environment variables that seed the clock and the random numbers of a server, for replay."""

from typing import Final

CLOCK: Final = "ASSAY_CLOCK"
"""The time at which the clock of each request begins, as ISO 8601."""
RANDOM_SEED: Final = "ASSAY_RANDOM_SEED"
"""The seed of random numbers."""
