"""The report as one HTML file: safe building blocks, and the document around them.

Blocks are functions that return `Html`, text that is safe to stand in a page; every other string is plain text and is
escaped where it enters a block. `tag` and `join` make what no block is there for. `document` puts sections of blocks
together with style, script and controls, and `write` puts the page on disk.

>>> page = document("Results", [Section("Errors", data_table(["data set", "error"], [["<b>", 0.25]], "Errors"))])
>>> "&lt;b&gt;" in page, "<b>" in page
(True, False)
"""

from suffice.report.page._charts import PLAIN, SERIES, bar_chart, legend, line_chart, seconds, stacked_bar
from suffice.report.page._document import Section, document, write
from suffice.report.page._dots import Dot, Spot, dot_plot, roc_chart, scatter
from suffice.report.page._figure import figure
from suffice.report.page._html import Html, join, number, slug, tag, text
from suffice.report.page._matrix import confusion
from suffice.report.page._means import Point, mean_curve, pooled
from suffice.report.page._reliability import reliability_diagram
from suffice.report.page._table import MARKS, Heading, Value, data_table
from suffice.report.page._text import Kind, block, bullets, chooser, code, fold, grid, heading, paragraph, verdict

__all__ = [
    "MARKS",
    "PLAIN",
    "SERIES",
    "Dot",
    "Heading",
    "Html",
    "Kind",
    "Point",
    "Section",
    "Spot",
    "Value",
    "bar_chart",
    "block",
    "bullets",
    "chooser",
    "code",
    "confusion",
    "data_table",
    "document",
    "dot_plot",
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
    "roc_chart",
    "scatter",
    "seconds",
    "slug",
    "stacked_bar",
    "tag",
    "text",
    "verdict",
    "write",
]
