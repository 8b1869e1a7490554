"""An option that may be given once."""

from __future__ import annotations

import argparse
from typing import Any


class Once(argparse.Action):
    """The first of two would be dropped without a word."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        value: Any,
        option_string: str | None = None,
    ) -> None:
        if getattr(namespace, self.dest) is not None:
            parser.error(f"{'/'.join(self.option_strings)} is given twice: one server at a time")
        setattr(namespace, self.dest, value)
