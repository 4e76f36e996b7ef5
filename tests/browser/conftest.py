"""Without selenium there is nothing to collect here."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("selenium") else ["test_page.py"]
