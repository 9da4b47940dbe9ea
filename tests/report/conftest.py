"""A browser without a window, on pages in files."""

import os
import shutil

import pytest
from pages import page_of

_FLAGS = (
    "headless",
    "no-sandbox",  # which needs rights that a container lacks
    "disable-gpu",
    "disable-quic",
    "no-first-run",
    "disable-background-networking",
    "disable-component-update",
    "disable-sync",
)


class Browser:
    """A page in a window of a width, in the light or the dark of the system."""

    def __init__(self, driver, folder):
        self._driver, self._folder = driver, folder

    def open(self, html, width=1200, *, dark=False):
        """Open a page, and wait until it is drawn."""
        path = self._folder / "page.html"
        path.write_text(html)
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", features=[scheme])
        self._driver.get_log("browser")  # of the page before
        self._driver.get(path.as_uri())
        self.wait_for("document.documentElement.dataset.drawn")

    def wait_for(self, expression):
        """The value of an expression on the page, once it has one that is true."""
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self._driver, 60).until(lambda _: self.ask(expression))

    def ask(self, expression):
        """The value of an expression on the page."""
        return self._driver.execute_script(f"return {expression}")

    def command(self, name, **arguments):
        """A command of the DevTools protocol."""
        return self._driver.execute_cdp_cmd(name, arguments)

    def complaints(self):
        """What the page wrote to the console."""
        return [entry["message"] for entry in self._driver.get_log("browser")]

    def click(self, selector):
        """Click an element."""
        self._driver.find_element("css selector", selector).click()

    def choose(self, selector, option):
        """Choose an option of a select."""
        from selenium.webdriver.support.ui import Select

        Select(self._driver.find_element("css selector", selector)).select_by_index(option)


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver")
    from selenium.webdriver.chrome.service import Service

    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and chromedriver):
        pytest.skip("needs chromium and chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*_FLAGS, f"user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    found = webdriver.Chrome(options, Service(chromedriver, env={**os.environ, "SE_OFFLINE": "true"}))
    yield found
    found.quit()


@pytest.fixture(scope="session")
def browser(driver, tmp_path_factory):
    return Browser(driver, tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="session")
def ten():
    return page_of(10)


@pytest.fixture(scope="session")
def ten_thousand():
    return page_of(10_000)
