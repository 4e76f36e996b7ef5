"""The documents whose tables, figures and claims are measured again."""

from __future__ import annotations

from typing import NamedTuple


class Document(NamedTuple):
    """A paper, a thesis or lecture notes."""

    authors: str
    title: str
    published: str
    link: str = ""

    def __str__(self) -> str:
        title = f"[{self.title}]({self.link})" if self.link else self.title
        return f"{self.authors}: {title}. {self.published}"


DOCUMENTS = {
    "rc1": Document(
        "Perez, Echegoyen, Santafe",
        "Risk-based calibration for probabilistic classifiers",
        "arXiv 2409.03542, 2024.",
        "https://arxiv.org/abs/2409.03542",
    ),
    "rc2": Document(
        "Perez, Echegoyen, Santafe",
        "Risk-based calibration for generative classifiers",
        "A later version of rc1, with test errors.",
    ),
    "nblr": Document(
        "Bhowmik",
        "Naive Bayes vs logistic regression: theory, implementation and experimental validation",
        "Inteligencia Artificial 18(56), 2015, pages 14-30.",
        "http://www.redalyc.org/articulo.oa?id=92542543003",
    ),
    "thesis": Document(
        "Martinez-Garcia",
        "Doctoral thesis on linear and non-linear discriminants by disjoint tangent configurations",
        "Supervised by Sancho-Gomez, Cartagena, 2019.",
    ),
    "notes": Document("Lecture notes", "Bayes decision rule and Bayes error", "Undated."),
}
