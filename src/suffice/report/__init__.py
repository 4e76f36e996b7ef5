"""Reports: classifiers compared on a table of one's own, what is measured of them, and the page that shows it."""
