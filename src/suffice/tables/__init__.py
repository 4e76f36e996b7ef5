"""Tables as files: CSV, TSV, Parquet and Arrow, with a sentence for everything that had to be decided."""

from suffice.tables._base import MISSING, Reading, Sheet, TableError, check_columns, counted, listed, nearest
from suffice.tables._labels import labels_like, labels_of
from suffice.tables._read import read
from suffice.tables._target import as_doubles, check_target, classes, in_days, labelled, read_classes, useful
from suffice.tables._values import BOOLEAN, MOMENT, NUMBER, PLURAL, TEXT, TYPES, kind_of
from suffice.tables._ways import WAYS
from suffice.tables._write import check_suffix, write, write_text

__all__ = [
    "BOOLEAN",
    "MISSING",
    "MOMENT",
    "NUMBER",
    "PLURAL",
    "TEXT",
    "TYPES",
    "WAYS",
    "Reading",
    "Sheet",
    "TableError",
    "as_doubles",
    "check_columns",
    "check_suffix",
    "check_target",
    "classes",
    "counted",
    "in_days",
    "kind_of",
    "labelled",
    "labels_like",
    "labels_of",
    "listed",
    "nearest",
    "read",
    "read_classes",
    "useful",
    "write",
    "write_text",
]
