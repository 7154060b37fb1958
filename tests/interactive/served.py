"""A page that is served, opened in a real browser which a script drives and asks."""

import json
import re
import subprocess
import threading
from contextlib import contextmanager

from kafkaproof.checker.interactive.server import Explored
from kafkaproof.checker.interactive.session import Session
from kafkaproof.spec.catalogue import find

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
SCRIPT = """<script>
const press = (key) => (document.activeElement || document.body)
  .dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const pause = () => new Promise((done) => setTimeout(done, 30));
const until = async (holds) => { for (let tries = 0; tries < 300 && !holds(); tries++) await pause(); };
const texts = (selector) => [...document.querySelectorAll(selector)].map((node) => node.textContent);
(async () => {
  let answer = null;
  try { await until(() => seen); answer = await (async () => { %s })(); } catch (problem) { answer = String(problem); }
  document.body.innerHTML = "";
  document.body.dataset.report = JSON.stringify(answer);
})();
</script>"""


def legacy() -> Session:
    """The election of 1.1 with two brokers."""
    model = find("election", "legacy")[0]
    return Session(model, {**model.scope, "brokers": 2})


@contextmanager
def served(session, steps=()):
    """A server of a session in a thread, which opens after these steps."""
    with Explored(session, session.trace(0, steps)) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def asked(browser, folder, server, script, address=""):
    """What a script answers that is run in the page."""
    page = server.page()
    server.page = lambda: page.replace("</body>", SCRIPT % script + "</body>", 1)
    command = [browser, *FLAGS, f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=20000", "--dump-dom"]
    command.append(server.address + address)
    dom = subprocess.run(command, capture_output=True, timeout=120, check=True, text=True).stdout
    found = re.search(r'data-report="([^"]*)"', dom)
    assert found, dom[-2000:]
    return json.loads(found[1].replace("&quot;", '"').replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"))
