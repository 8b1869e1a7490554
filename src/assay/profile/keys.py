"""The keys of `_meta` under which the profile tells what it tells."""

from typing import Final

EFFECTS: Final = "dev.assay/effects"
PROVENANCE: Final = "dev.assay/provenance"
RETENTION: Final = "dev.assay/retention"
VERSION: Final = "dev.assay/version"
