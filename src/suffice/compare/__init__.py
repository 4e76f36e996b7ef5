"""Hypothesis tests that compare classifiers: which differences between their scores are more than chance.

| the scores are | two methods | several: do any differ? | several: which pairs? |
|---|---|---|---|
| of independent sets | `paired_t`, `wilcoxon` | `friedman`, `f_test_repeated` | `holm`, `nemenyi`, `newman_keuls` |
| of overlapping splits of one data set | `corrected_resampled_t` | | `holm` with that test |
| right or wrong on the same test rows | `mcnemar` | | `holm(wrong, test=mcnemar)` |
| each method on rows of its own | `two_sample_t` | `f_test` | `tukey_hsd` |

`z_test` and `one_sample_t` compare one method with a number. Each returns a `Test`, or a `Family` of pairs, which print
as a sentence. Not significant does not mean equal: a test can miss a difference (a type II error), especially with few
rows.

All of them take these:

a, b : array of shape (n,)
    The scores of two methods, row by row; of `two_sample_t`, each of a length of its own.
scores : array of shape (n, k), dict or data frame
    Rows are data sets or splits, columns the methods; a dict or a data frame also names them. `groups` may differ in
    length: a list of k arrays, a dict or a data frame.
higher_is_better : bool
    True for accuracies: the highest score has rank 1. False for errors and losses.
alpha : float, default=0.05
    The probability of a type I error, calling chance a difference; in a `Family`, that of any such error.
names : k str, optional
    What the sentence calls the methods; A, B, C, ... by default.
"""

from suffice.compare.result import Family, Pair, Test, critical_difference_figure
from suffice.compare.several import (
    average_ranks,
    f_test,
    f_test_repeated,
    friedman,
    holm,
    holm_adjusted,
    nemenyi,
    newman_keuls,
    tukey_hsd,
)
from suffice.compare.two import corrected_resampled_t, mcnemar, one_sample_t, paired_t, two_sample_t, wilcoxon, z_test

__all__ = [
    "Family",
    "Pair",
    "Test",
    "average_ranks",
    "corrected_resampled_t",
    "critical_difference_figure",
    "f_test",
    "f_test_repeated",
    "friedman",
    "holm",
    "holm_adjusted",
    "mcnemar",
    "nemenyi",
    "newman_keuls",
    "one_sample_t",
    "paired_t",
    "tukey_hsd",
    "two_sample_t",
    "wilcoxon",
    "z_test",
]
