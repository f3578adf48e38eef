"""Node code is imported as on a node: by the name of its own package."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "hyperpod_constructs/assets/lifecycle"))
