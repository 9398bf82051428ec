"""How many cases Hypothesis tries: few and always the same, or many and each time others.

HYPOTHESIS_PROFILE=thorough is for a long look by hand.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile("unit", derandomize=True, deadline=None, max_examples=150)
settings.register_profile(
    "thorough",
    deadline=None,
    max_examples=2_000,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "unit"))
