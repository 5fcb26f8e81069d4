"""Which settings make a fit the fit that it is, for whatever keeps results by them."""

from __future__ import annotations

from typing import Any

from agssl.config import Settings, effective

# Settings that came after the first records, each with the value that fits before it had. At that value they stay out,
# so that a new setting leaves all records valid; at any other value, a later default included, they count.
ADDED_LATER: dict[str, Any] = {"encoder": "gcn"}


def identity(settings: Settings) -> dict[str, Any]:
    """The settings that decide the result, as plain values; equal for equal fits, whenever they were recorded."""
    values = effective(settings)
    return {name: value for name, value in values.items() if name not in ADDED_LATER or value != ADDED_LATER[name]}
