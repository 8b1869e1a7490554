"""Measurements: how figures that no trace shows enter a certification.

A demand with `by = "measurement"` is judged by figures: latencies, attempts to escape from a sandbox, the
rate of equal answers in a replay. A *provider* measures them, the limits of the profile decide, and the
bundle holds the evidence:

- `assay/certify/providers/<name>.py` defines `PROVIDER`, an instance of a `Provider`. It is found by package
  scan; what it measures with lives elsewhere and is imported when it is used.
- `Provider.prepare` runs before the server is judged, `wrap` may change the commands that start it,
  `measure` runs afterwards and returns a `Measurement` or a `NotMeasured` for each demand.
- `measurements/<demand>.json` in the bundle holds the figures, `measurements/<demand>/<name>` the files they
  come from. `Provider.figures` computes the figures from the files again, for `assay verify --rejudge`.
- A figure that a limit needs and that is missing leaves the demand *not measured*; a `problem` fails it.
"""

from .document import Measurement as Measurement
from .document import NotMeasured as NotMeasured
from .provider import MeasurementContext as MeasurementContext
from .provider import Preparation as Preparation
from .provider import Provider as Provider
