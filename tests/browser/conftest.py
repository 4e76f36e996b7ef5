"""The browser of the tests; without selenium there is nothing to collect here."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

collect_ignore = (
    []
    if find_spec("selenium")
    else ["test_page.py", "test_compare_page.py", "test_model_page.py", "test_controls.py", "view.py"]
)


@pytest.fixture(scope="session")
def screenshots(tmp_path_factory):
    given = os.environ.get("SUFFICE_SCREENSHOTS")
    folder = Path(given) if given else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    from selenium import webdriver

    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.fail("chromium and chromedriver are not on the path: make test-browser installs them")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    profile = tmp_path_factory.mktemp("profile")
    # root may not use the sandbox, and containers have little shared memory
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={profile}")
    chrome = webdriver.Chrome(options, webdriver.ChromeService(driver))
    yield chrome
    chrome.quit()


@pytest.fixture
def opened(browser):
    """Opens a page again, on a desktop with light colours; none may have anything to complain of."""
    from tests.browser.view import colours, size

    def go(path):
        browser.get("about:blank")
        browser.get(path.as_uri())
        return browser

    size(browser, 1280, 900)
    colours(browser, "light")
    yield go
    assert [line["message"] for line in browser.get_log("browser")] == []
