"""The frontmatter of a skill is compared with its entry."""

from __future__ import annotations

from assay.lab.client.fixtures.verified_skill import stops
from assay.lab.everything.declaring import official_check

ROW = "sep-2640-host-frontmatter-comparison"
judge = official_check("sep-2640-client-verify-frontmatter", "Frontmatter is compared", rows=(ROW,))(
    stops(ROW, "frontmatter that differs")
)
