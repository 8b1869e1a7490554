"""Finds out why a server cannot be reached or used. `diagnose` walks from its name to a list."""

from __future__ import annotations

from .diagnosis import diagnose as diagnose
from .diagnosis import examine as examine
from .step import Diagnosis as Diagnosis
from .step import Setup as Setup
from .step import Status as Status
from .step import Step as Step
