"""Options of the lab, from a mark and the command line of pytest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
import pytest

from assay.lab.error import InvalidOptions
from assay.lab.options import JudgeOptions

SEVERAL: Final = ("scenario", "skip", "spec_version", "transport")
"""Options that take one text or several."""
PATHS: Final = ("baseline", "output")
FROM_COMMAND_LINE: Final = {
    "suite": "assay_suite",
    "scenario": "assay_scenario",
    "spec_version": "assay_revision",
    "transport": "assay_transport",
}
OTHER_NAMES: Final = {"revision": "spec_version"}
"""What clients call `revision`."""


def judge_options(config: pytest.Config, mark: Mapping[str, Any]) -> JudgeOptions:
    """The options of a mark, and those of the command line over them.

    Raises:
        InvalidOptions: an option that the lab does not have, or a value of another type.
    """
    values = {OTHER_NAMES.get(name, name): value for name, value in mark.items()}
    for name, option in FROM_COMMAND_LINE.items():
        if getattr(config.option, option):
            values[name] = getattr(config.option, option)
    values |= {name: _several(values[name]) for name in SEVERAL if name in values}
    values |= {name: config.rootpath / values[name] for name in PATHS if values.get(name) is not None}
    if isinstance(values.get("arguments"), str):
        values["arguments"] = config.rootpath / values["arguments"]
    unknown = values.keys() - set(JudgeOptions.__struct_fields__)
    if unknown:
        known = ", ".join(JudgeOptions.__struct_fields__)
        raise InvalidOptions(f"the lab has no option {min(unknown)}", f"one of {known}")
    try:
        return msgspec.convert(msgspec.structs.asdict(JudgeOptions(**values)), JudgeOptions)
    except msgspec.ValidationError as error:
        raise InvalidOptions(f"an option has a wrong type: {error}") from None


def _several(value: Any) -> tuple[Any, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
