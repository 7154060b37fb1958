"""Runs a page in headless Chromium and asks it questions."""

import base64
import json
import re
import shutil
import subprocess

NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=2000",
    "--window-size=1400,1000",
)
CATCH = """<script>
window.caught = [];
window.addEventListener("error", (event) => caught.push(event.message));
</script>"""
ASK = """<script>
const press = (key) => (document.activeElement || document.body)
  .dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const find = (selector) => document.querySelector(selector);
const count = (selector) => document.querySelectorAll(selector).length;
const chosen = () => find("[aria-current]").id;
let answer = null;
try { answer = (() => { %s })(); } catch (error) { caught.push(String(error)); }
setTimeout(() => {
  const bytes = new TextEncoder().encode(JSON.stringify({ answer, caught }));
  document.body.dataset.report = btoa(String.fromCharCode(...bytes));
}, 100);
</script>"""


def run(folder, page, address, *flags):
    """Open the page at the address (such as `#step-3`) and return what Chromium prints."""
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    command = [BROWSER, *FLAGS, f"--user-data-dir={folder / 'profile'}", *flags, file.as_uri() + address]
    return subprocess.run(command, capture_output=True, timeout=120, check=True, text=True).stdout


def ask(folder, page, script, address=""):
    """What the script, run in the page, returns; fails when the page had any error."""
    page = page.replace("<head>", "<head>" + CATCH, 1)
    page = page.replace("</body>", ASK % script + "</body>", 1)
    dom = run(folder, page, address, "--dump-dom")
    report = json.loads(base64.b64decode(re.search(r'data-report="([^"]*)"', dom)[1]))
    assert report["caught"] == []
    return report["answer"]
