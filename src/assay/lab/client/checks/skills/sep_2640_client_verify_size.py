"""A file is compared with its size."""

from __future__ import annotations

from assay.lab.client.fixtures.verified_skill import stops
from assay.lab.everything.declaring import official_check

ROW = "sep-2640-host-size-mismatch-failure"
judge = official_check("sep-2640-client-verify-size", "Sizes are compared", rows=(ROW,))(
    stops(ROW, "a size that differs")
)
