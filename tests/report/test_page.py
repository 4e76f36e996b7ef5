"""The page of a benchmark without a browser: escaping, form, determinism, empty input."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

from papers import blocks
from papers.bench_page import bench_page
from papers.tables import TABLES
from suffice.compare import critical_difference_figure, nemenyi
from suffice.report import page
from suffice.report.page import charts as axis
from suffice.report.page import number
from tests.report import page_sample as sample

VOID = {"br", "hr", "input", "link", "meta"}
ATTACK = "\"><script>alert(1)</script>&amp;'\x00"


class Reader(HTMLParser):
    """Checks that tags nest, and gathers elements, ids and text."""

    def __init__(self, html):
        super().__init__()
        self.open, self.elements, self.attributes, self.text = [], Counter(), [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements[tag] += 1
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("script", "style"):
            self.text.append(data)

    def ids(self):
        return [value for name, value in self.attributes if name == "id"]


@pytest.fixture(scope="module")
def html():
    return bench_page([sample.table()], sample.results(), sample.times(), ["<u>wine</u>: not available"])


def test_text_is_escaped_once_and_fragments_never():
    bold = page.tag("b", "<&>")
    assert page.tag("p", bold, " & ", title='"x"') == '<p title="&quot;x&quot;"><b>&lt;&amp;&gt;</b> &amp; </p>'
    assert page.text(bold) is bold
    assert "<" + bold == "&lt;<b>&lt;&amp;&gt;</b>"
    assert isinstance(page.join([bold, "a"]) + "b", page.Html)


def test_a_fragment_in_a_format_string_is_refused():
    with pytest.raises(TypeError, match="tag"):
        f"{page.tag('b')}"


@pytest.mark.parametrize(
    "made",
    [
        page.heading(ATTACK),
        page.paragraph(ATTACK),
        page.verdict(ATTACK, kind="off"),
        page.bullets([ATTACK]),
        page.fold(ATTACK, ATTACK),
        page.block(ATTACK, page.paragraph(ATTACK), note=ATTACK),
        blocks.chooser(ATTACK, [ATTACK], {(ATTACK,): page.text(ATTACK)}),
        page.data_table([page.Heading(ATTACK, ATTACK, ATTACK), ATTACK], [[ATTACK, ATTACK]], ATTACK),
        page.data_table(["a", "b"], [["a", page.Value(1.0, 2, "off", ATTACK)]], "c"),
        axis.line_chart({ATTACK: [(1, 2), (2, 1)], "b": 1.5}, ATTACK, ATTACK, ATTACK),
        axis.reliability_diagram([[3, 0.5, 0.5]], ATTACK),
        axis.bar_chart({ATTACK: 1.0}, ATTACK, ATTACK),
        blocks.stacked_bar({ATTACK: 1}, ATTACK),
        axis.legend([ATTACK]),
    ],
)
def test_blocks_escape_what_they_are_given(made):
    assert isinstance(made, page.Html)
    assert Reader(made).elements["script"] == 0
    ElementTree.fromstring(f"<x>{re.sub(r' (hidden|open)(?=[ >])', '', str.__str__(made))}</x>")


def test_blocks_on_nothing():
    assert page.bullets([]) == page.grid([]) == blocks.chooser("a", ["b"], {}) == page.block("title") == ""
    assert "nothing measured yet" in page.data_table(["a"], [], "c")
    assert "No curve" in axis.line_chart({}, "t", "x", "y")
    assert "No curve" in axis.line_chart({"a": [], "b": 2.0}, "t", "x", "y")
    assert "nothing measured" in axis.reliability_diagram([], "a")
    assert "Nothing" in axis.bar_chart({}, "t")
    assert "<rect" not in blocks.stacked_bar({"equal": 0}, "t")
    assert "No cell" in bench_page([TABLES["rc1-table2"]], {}, {})
    Reader(bench_page([], {}, {}))


def test_charts_survive_odd_numbers():
    odd = [(1, 1.0), (2, np.nan), (3, np.inf), (4, 1.0), (5, 0.0)]
    for log_y in (False, True):
        made = axis.line_chart({"a": odd, "b": [(1, 1e-300)], "c": np.nan}, "t", "x", "y", log_y=log_y)
        assert "nan" not in made
        assert "inf" not in made
    assert axis.bar_chart({"a": 0.0, "b": np.nan}, "t").count("<tr>") == 1


def test_long_curves_are_thinned():
    made = axis.line_chart({"a": [(i, float(np.sin(i))) for i in range(5000)]}, "t", "x", "y")
    assert len(made) < 4000
    assert made.count("M") < 130


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(("low", "high"), [(0.1, 0.3), (1e-9, 1e9), (5, 5), (0.999, 1.001), (3, 40)])
def test_scales_hold_their_values(low, high, log):
    made = axis.scale([low, high], 10, 110, log)
    assert 10 <= made(low) <= made(high) <= 110
    assert 2 <= len(made.ticks) <= 12
    assert list(made.ticks) == sorted(set(made.ticks))


def test_the_page_is_well_formed_and_shows_names_as_text(html):
    read = Reader(html)
    assert read.elements["script"] == 2
    assert read.elements["img"] == 0
    for name in (*sample.HOSTILE, *sample.METHODS):
        assert name in "".join(read.text)
    assert not [name for name, _ in read.attributes if name.startswith("on")]
    assert len(set(read.ids())) == len(read.ids())
    assert {value[1:] for name, value in read.attributes if name == "href"} <= set(read.ids())


def test_every_svg_is_xml(html):
    pictures = re.findall(r"<svg.*?</svg>", html, flags=re.DOTALL)
    assert len(pictures) > 30
    for picture in pictures:
        ElementTree.fromstring(picture)


def test_nothing_comes_from_elsewhere(html):
    assert not re.findall(r"(?:src|href)=\"(?!#)", html)
    assert "http" not in re.sub(r"http-equiv", "", html)
    assert any("default-src 'none'" in (value or "") for name, value in Reader(html).attributes if name == "content")


def test_the_same_input_gives_the_same_bytes(html):
    again = bench_page([sample.table()], sample.results(), sample.times(), ["<u>wine</u>: not available"])
    assert again == html


def test_all_states_and_parts_are_there(html):
    for part in ("Overview", "Why cells are off", "Convergence", "Reliability", "Time to fit", "Average ranks"):
        assert f">{part}</h" in html
    for state in ("equal", "near", "off"):
        assert f'<td class="number {state} edge"' in html
    assert "another version of the file &lt;b&gt;" in html
    assert "1 fits failed" not in html
    assert "1 fit failed" in html


def test_figures_have_ids_of_their_own():
    ranks = nemenyi(np.random.default_rng(0).random((6, 4)), higher_is_better=True, names=["a", "b", "$c", "d$"])
    both = [blocks.figure(critical_difference_figure(ranks), name, "Ranks") for name in ("one", "two")]
    first, second = (set(Reader(made).ids()) for made in both)
    assert first
    assert not first & second
    for made in both:
        read = Reader(made)
        links = {v[1:] for n, v in read.attributes if n == "href"} | set(re.findall(r"url\(#([\w-]+)\)", made))
        assert links <= set(read.ids())
        assert {"metadata", "style"}.isdisjoint(read.elements)
        assert any("$c" in text for text in read.text)
        assert "#000000" not in made


def test_anchors_differ():
    made = page.document("t", [page.Section("A", page.text("a")), page.Section("a!", page.text("b"))])
    ids = Reader(made).ids()
    assert len(set(ids)) == len(ids)


def test_write_replaces_at_once(tmp_path):
    path = page.write(tmp_path / "new" / "index.html", "\u2260 one")
    page.write(path, "two")
    assert path.read_text(encoding="utf-8") == "two"
    assert [entry.name for entry in path.parent.iterdir()] == ["index.html"]


def test_write_leaves_the_old_page_where_the_new_one_fails(tmp_path):
    path = page.write(tmp_path / "index.html", "old")
    with pytest.raises(UnicodeEncodeError):
        page.write(path, "\ud800")
    assert path.read_text(encoding="utf-8") == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["index.html"]


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (-1e-9, 9, "\u22121e\u22129"),
        (1e15, 0, "1e15"),
        (0.00012, 9, "0.000120000"),
        (-1234.5, 1, "\u22121,234.5"),
        (0, 9, "0.000000000"),
    ],
)
def test_a_number_that_would_be_long_is_a_power_of_ten(value, digits, shown):
    assert number(value, digits) == shown
