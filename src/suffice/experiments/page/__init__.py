"""The report as one HTML file: safe building blocks, the document around them, and the page of a benchmark.

Blocks are functions that return `Html`, text that is safe to stand in a page; every other string is plain text and is
escaped where it enters a block. `tag` and `join` make what no block is there for. `document` puts sections of blocks
together with style, script and controls, and `write` puts the page on disk.

>>> page = document("Results", [Section("Errors", data_table(["data set", "error"], [["<b>", 0.25]], "Errors"))])
>>> "&lt;b&gt;" in page, "<b>" in page
(True, False)
"""

from suffice.experiments.page._charts import bar_chart, legend, line_chart, reliability_diagram, seconds, stacked_bar
from suffice.experiments.page._document import Section, document, write
from suffice.experiments.page._evidence import mean_curve, pooled
from suffice.experiments.page._figure import figure
from suffice.experiments.page._html import Html, join, number, slug, tag, text
from suffice.experiments.page._table import Heading, Value, data_table
from suffice.experiments.page._text import block, bullets, chooser, fold, grid, heading, paragraph, verdict
from suffice.experiments.page.bench import bench_page

__all__ = [
    "Heading",
    "Html",
    "Section",
    "Value",
    "bar_chart",
    "bench_page",
    "block",
    "bullets",
    "chooser",
    "data_table",
    "document",
    "figure",
    "fold",
    "grid",
    "heading",
    "join",
    "legend",
    "line_chart",
    "mean_curve",
    "number",
    "paragraph",
    "pooled",
    "reliability_diagram",
    "seconds",
    "slug",
    "stacked_bar",
    "tag",
    "text",
    "verdict",
    "write",
]
