"""The `assay` command as a process, also started as `python -m assay`."""

from __future__ import annotations

import gc
import sys


def run() -> int:
    # Most of a short command is importing, and what that creates lives until the end: by default, looking for
    # garbage in it takes a tenth of the time.
    gc.set_threshold(10_000)
    from assay.cli.main import main

    code = main()
    if sys.argv[1:2] != ["serve"]:  # objects of the user's server may need the last collection
        gc.freeze()
    return code


if __name__ == "__main__":
    sys.exit(run())
