"""The benchmark of the product: mixed tables as they are, beside the classifiers that people use.

    python -m benchmarks.accuracy run        measures what has not been measured; can be stopped at any time
    python -m benchmarks.accuracy report     writes docs/accuracy.md and its figures; prints one half with --half
    python -m benchmarks.accuracy state      what is there, and what is missing

75/25 stratified splits, the same for all methods; nothing is fitted or chosen on test rows. Every method runs with its
default settings and as many threads (`--threads`, one by default). What is chosen is chosen on the sets at even places
of the sorted list (`--half choose`), and the sets at odd places report.
"""
