"""Makes docs/images/phones.webp, the animation of the README: `python -m benchmarks.phones_animation`.

Plays `langmem demo --web` in a real browser, a picture for each step.
"""

import io
import re
import subprocess
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "phones.webp"
CHROMIUM = "/usr/bin/chromium-headless-shell"
SIZE = {"width": 1180, "height": 760}
LONG, SHORT = 2_600, 1_100  # milliseconds that a picture stands
MOST_BYTES = 1_000_000


def main() -> None:
    command = [sys.executable, "-c", "from langmem_plugin.cli import app; app()", "demo", "--web", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as demo, sync_playwright() as playwright:
        try:
            address = re.search(r"http://\S+", demo.stdout.readline())[0]
            page = playwright.chromium.launch(executable_path=CHROMIUM).new_page(viewport=SIZE)
            page.goto(address)
            pictures = [*_played(page)]
        finally:
            demo.terminate()
    first, *rest = [Image.open(io.BytesIO(png)).convert("RGB") for png, _ in pictures]
    times = [time for _, time in pictures]
    first.save(PICTURE, save_all=True, append_images=rest, duration=times, loop=0, quality=60, method=6)
    assert PICTURE.stat().st_size <= MOST_BYTES, "the animation is larger than a README should load"
    print(f"{PICTURE}: {len(pictures)} pictures, {PICTURE.stat().st_size:,} bytes")


def _played(page: Page):
    yield page.screenshot(), SHORT
    while page.locator("[data-next]").count():
        page.locator("[data-next]").click()
        yield from _settled(page)
    page.get_by_label("Text as Erin").first.fill("save number 2")
    yield page.screenshot(), SHORT
    page.get_by_role("button", name="Send as Erin").click()
    yield from _settled(page)
    yield page.screenshot(), LONG


def _settled(page: Page):
    page.wait_for_timeout(300)  # the request is on its way by now
    page.locator(".htmx-request").first.wait_for(state="detached", timeout=60_000)
    page.wait_for_timeout(200)
    yield page.screenshot(), LONG


if __name__ == "__main__":
    main()
