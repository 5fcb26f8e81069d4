"""A page that is open in Chromium, and everything that went wrong or out on it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@dataclass
class Tab:
    """An open page."""

    page: Any
    troubles: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


def opened(browser: Any, path: Path | str, state: str = "", **options: Any) -> Tab:
    """The page, opened from disk with a state in its address, or from a server."""
    page = browser.new_page(viewport=options.pop("viewport", {"width": 1360, "height": 900}), **options)
    tab = Tab(page)
    page.on("console", lambda message: tab.troubles.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: tab.troubles.append(str(error)))
    page.on("dialog", lambda dialog: (tab.troubles.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: tab.requests.append(request.url))
    page.goto(path if isinstance(path, str) else path.resolve().as_uri() + state)
    page.wait_for_selector("html[data-ready]")
    return tab
