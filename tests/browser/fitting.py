"""Whether a page fits its window."""

from __future__ import annotations

from playwright.sync_api import Error, Page

# Between two pages there is no document: then it is asked again.
FITS = "document.querySelector('footer') && document.documentElement.scrollWidth <= innerWidth"


def fits(page: Page) -> bool:
    """Whether nothing sticks out sideways."""
    try:
        page.wait_for_function(FITS)
    except Error:
        return False
    return True
