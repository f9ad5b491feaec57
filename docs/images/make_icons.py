"""Make the icons of the installable app from `favicon.svg`: `python docs/images/make_icons.py`."""

from __future__ import annotations

import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

STATIC = Path(__file__).resolve().parents[2] / "frontend" / "static"
GREEN = "#0f5a52"
# A maskable icon is cut to any shape: what matters stands within the middle four fifths.
ICONS = [
    ("icon-192", 192, 1.0),
    ("icon-512", 512, 1.0),
    ("icon-512-maskable", 512, 0.8),
    ("icon-180", 180, 1.0),
]


def main() -> None:
    """Write the icons."""
    svg = (STATIC / "favicon.svg").read_text()
    with sync_playwright() as playwright:
        found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        for name, size, share in ICONS:
            page = browser.new_page(viewport={"width": size, "height": size})
            # Phones round the corners themselves, and show what is transparent as black.
            colour = "transparent" if name in ("icon-192", "icon-512") else GREEN
            body = f"margin:0;display:grid;place-items:center;height:100vh;background:{colour}"
            style = f"<style>body{{{body}}}svg{{width:{share * 100}vw}}</style>"
            page.set_content(style + svg)
            page.screenshot(path=STATIC / f"{name}.png", omit_background=True)
        browser.close()


if __name__ == "__main__":
    main()
