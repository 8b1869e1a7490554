"""The keys that the profile uses in `_meta`."""

from typing import Final

EFFECTS: Final = "dev.assay/effects"
PROVENANCE: Final = "dev.assay/provenance"
RETENTION: Final = "dev.assay/retention"
VERSION: Final = "dev.assay/version"
