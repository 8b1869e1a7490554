"""`python -m assay` is the `assay` command."""

from __future__ import annotations

import sys

from assay.cli.main import main

sys.exit(main())
