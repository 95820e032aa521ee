#!/usr/bin/env python3
"""browser.py [--shots FOLDER] PAGE.html...: pages in headless Chromium, as people see them.

Of each page, at 400 and 1,400 pixels, on light and dark: no message on the console, no request, nothing
wider than the window. By keyboard: every link, list and summary is reached by Tab, and the list of points
shows the point that it names. A pointer on a point of a figure shows its number. Saved CSV and SVG parse.
Exit code 77: no browser.
"""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

WIDTHS, SCHEMES = (400, 1400), ("light", "dark")


class Browser:
    """Chromium over its DevTools pipe: messages of JSON, each with a zero at its end."""

    def __init__(self, program, home):
        to_read, self.to = os.pipe()
        self.back, back_write = os.pipe()
        os.set_inheritable(to_read, True)
        os.set_inheritable(back_write, True)

        def pipes():  # in the child: 3 and 4 are the browser's
            read, write = os.dup(to_read), os.dup(back_write)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--no-first-run", f"--user-data-dir={home}", "--remote-debugging-pipe"],
            preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(back_write)
        self.number, self.buffer, self.events, self.session = 0, b"", [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def receive(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.back, 1 << 16)
            if not piece:
                raise RuntimeError("the browser ended")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        while not any(e.get("method") == method for e in self.events):
            self.events.append(self.receive())

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def key(self, name, code, text=""):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code,
                      **({"text": text} if text and kind == "keyDown" else {}))

    def open(self, path, width, scheme):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events = []
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        self.wait_for("Page.loadEventFired")

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (RuntimeError, OSError):
            pass
        self.process.wait(20)


WIDE = """[...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll, pre, svg') &&
    e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 120))"""
REACHABLE = """[...document.querySelectorAll('a[href], select, summary')].filter(e => e.checkVisibility()).length"""
SEEN = "[...document.querySelectorAll('a, select, summary')].filter(e => e.seen).length"
SHOWN = """[...document.querySelector('.pick').querySelectorAll('.point')].filter(e => e.checkVisibility()).map(
    e => e.querySelector('h3') ? e.querySelector('h3').textContent : '')"""


def complain(browser, page, where):
    said = []
    for event in browser.events:
        parameters = event.get("params", {})
        if event.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            said.append(json.dumps(parameters)[:300])
        if event.get("method") == "Network.requestWillBeSent":
            url = parameters["request"]["url"]
            if not url.startswith(("file:", "data:")):
                said.append("asks for " + url)
    assert not said, f"{page}, {where}: {said}"


def by_keyboard(browser, page):
    """Tab goes through everything that can be used, and the list of points works by keys."""
    wanted, distinct = browser.evaluate(REACHABLE), 0
    browser.evaluate("document.body.tabIndex = -1; document.body.focus();"
                     "document.addEventListener('focusin', e => e.target.seen = 1)")
    for presses in range(2 * wanted + 10):  # wide tables are stops, too
        browser.key("Tab", 9)
        if presses >= wanted - 1:
            distinct = browser.evaluate(SEEN)
        if distinct == wanted:
            break
    assert distinct == wanted, f"{page}: {distinct} of {wanted} reached by Tab"


def choose_points(browser, page):
    count = browser.evaluate("(document.querySelector('.pick select') || {length: 0}).length")
    if not count:
        return
    labels = browser.evaluate("[...document.querySelector('.pick select').options].map(o => o.text)")
    assert len(set(labels)) == len(labels), f"{page}: points of one name {labels}"
    assert browser.evaluate(SHOWN) == labels[:1], f"{page}: shows {browser.evaluate(SHOWN)} first"
    browser.evaluate("document.querySelector('.pick select').focus()")
    browser.key("ArrowDown", 40)
    if browser.evaluate("document.querySelector('.pick select').selectedIndex") == 0:
        browser.key("Enter", 13, "\r")  # where the first key only opens the list
    browser.evaluate(f"document.querySelector('.pick select').selectedIndex = {count - 1}")
    assert browser.evaluate(SHOWN) == labels[-1:], f"{page}: shows {browser.evaluate(SHOWN)} instead of {labels[-1]}"


def hover(browser, page):
    if not browser.evaluate("document.querySelectorAll('.h').length"):
        return
    visible = "[...document.querySelectorAll('.h text')].filter(e => getComputedStyle(e).visibility === 'visible').length"
    assert browser.evaluate(visible) == 0, f"{page}: numbers without a pointer"
    x, y, text = browser.evaluate("""(() => {
        for (const h of document.querySelectorAll('.h')) {
            h.scrollIntoView({block: 'center', behavior: 'instant'});
            const r = h.querySelector('circle').getBoundingClientRect(), x = r.x + r.width / 2, y = r.y + r.height / 2;
            const hit = document.elementFromPoint(x, y);
            if (hit && hit.closest('.h') === h) /* not below another one */
                return [x, y, h.textContent];
        } })()""")
    for _ in range(40):  # until the next frame
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        if browser.evaluate(visible):
            break
        time.sleep(0.05)
    assert browser.evaluate(visible) == 1, f"{page}: no number under the pointer"
    assert "=" in text, text


def saved(browser, page):
    links = browser.evaluate("[...document.querySelectorAll('.save a')].map(a => [a.download, a.href])")
    figures = browser.evaluate("document.querySelectorAll('figure svg[role=img]').length")
    assert len(links) == 2 * figures > 0, f"{page}: {len(links)} links of {figures} figures"
    for name, address in links:
        data = base64.b64decode(address.split(",", 1)[1]).decode()
        if name.endswith(".svg"):
            assert xml.fromstring(data).tag.endswith("svg"), name
            assert "var(" not in data and "NaN" not in data, name
        else:
            lines = data.splitlines()
            assert lines[0].startswith("series,") and lines[0].endswith(",error") and len(lines) > 1, name


def main():
    pages, shots = sys.argv[1:], None
    if pages[:1] == ["--shots"]:
        shots, pages = pages[1], pages[2:]
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if not program:
        print("no Chromium here; tools/install-deps.sh --test installs Debian's")
        sys.exit(77)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        browser = Browser(program, home)
        try:
            for page in pages:
                for width in WIDTHS:
                    for scheme in SCHEMES:
                        browser.open(page, width, scheme)
                        where = f"{width} pixels, {scheme}"
                        assert browser.evaluate("document.documentElement.scrollWidth") <= width, f"{page}, {where}: overflows"
                        assert not browser.evaluate(WIDE), f"{page}, {where}: {browser.evaluate(WIDE)}"
                        paper = browser.evaluate("getComputedStyle(document.body).backgroundColor")
                        bright = sum(int(n) for n in paper[4:-1].split(",")) > 384
                        assert bright == (scheme == "light"), f"{page}, {where}: paper {paper}"
                        complain(browser, page, where)
                        if shots:
                            shot = browser.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
                            name = os.path.basename(os.path.dirname(os.path.abspath(page)))
                            with open(f"{shots}/{name}-{width}-{scheme}.png", "wb") as file:
                                file.write(base64.b64decode(shot))
                hover(browser, page)
                saved(browser, page)
                choose_points(browser, page)
                browser.open(page, 1400, "light")
                by_keyboard(browser, page)
                assert browser.call("Page.printToPDF")["data"], page
                print(f"{page}: ok")
        finally:
            browser.close()


main()
