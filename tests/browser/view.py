"""How tests look at a page in the browser."""

from __future__ import annotations

from selenium.webdriver.common.by import By


def loaded(browser, address):
    """A page as it is opened for the first time, on a desktop with light colours."""
    size(browser, 1280, 900)
    colours(browser, "light")
    browser.get(address)
    browser.execute_script("localStorage.clear()")
    browser.get("about:blank")  # so that the next address is loaded again
    browser.get(address)
    return browser


def size(browser, width, height, phone=False):
    metrics = {"width": width, "height": height, "deviceScaleFactor": 2 if phone else 1, "mobile": phone}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def colours(browser, scheme):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def one(page, selector):
    return page.find_element(By.CSS_SELECTOR, selector)


def shown(page, selector):
    return [element for element in page.find_elements(By.CSS_SELECTOR, selector) if element.is_displayed()]


def background(page):
    return page.execute_script("return getComputedStyle(document.body).backgroundColor")


def whole(page, path, width, phone=False):
    """A picture of the page from top to bottom."""
    size(page, width, 800, phone)
    size(page, width, page.execute_script("return document.scrollingElement.scrollHeight"), phone)
    page.save_screenshot(str(path))
