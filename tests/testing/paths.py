"""Where things lie in the checkout."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "tests" / "samples"
# Real documents next to the checkout; not every machine has them.
SHARED_DATA = ROOT.parent / "shared" / "data"
