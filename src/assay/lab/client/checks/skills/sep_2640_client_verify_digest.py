"""A file is compared with its digest."""

from __future__ import annotations

from assay.lab.client.fixtures.verified_skill import stops
from assay.lab.everything.declaring import official_check

ROW = "sep-2640-host-verify-digest"
judge = official_check("sep-2640-client-verify-digest", "Digests are compared", rows=(ROW,))(
    stops(ROW, "a digest that differs")
)
