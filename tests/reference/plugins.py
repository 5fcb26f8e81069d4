"""Registries that forget what a test has added."""

from __future__ import annotations

import pytest

from agssl.base import plugins
from agssl.cli.plugins import registries


def forget_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here to the end of the test, plug-ins add to copies of the registries."""
    monkeypatch.setattr(plugins, "_loaded", {})
    for registry in registries().values():
        monkeypatch.setattr(registry, "_items", dict(registry._items))
