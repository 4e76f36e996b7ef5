"""The query that answers for the rows of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from suffice._domain import Features
from suffice._labels import show_all
from suffice.data.sql._dialects import check_names, dialect_of
from suffice.data.sql._writing import Said, Writer, table_of

KEY = "key"


@dataclass(frozen=True)
class Scoring:
    """A table, the columns that say which row is which, and what writes formulas of the others."""

    table: str | tuple[str, ...]
    keys: tuple[str, ...]
    say: Writer

    @classmethod
    def of(
        cls,
        table: str | tuple[str, ...],
        dialect: str,
        keys: str | Sequence[str],
        features: Features,
        columns: Sequence[str] | None,
        holding: Mapping[Any, str],
    ) -> Scoring:
        """From the arguments of `to_sql`, checked."""
        keys = (keys,) if isinstance(keys, str) else tuple(keys)
        features = Features(features.width, features.names)  # in the order of the table, whatever blocks they are in
        names = dict(zip(features.keys, _names(features, columns), strict=True))
        spoken = dialect_of(dialect)
        check_names(list(names.values()), spoken)
        say = Writer(spoken, {**names, **{(KEY, one): one for one in keys}}, holding)
        return cls(table, keys, say)

    def query(self, answers: Mapping[str, Said]) -> str:
        """SELECT keys and answers FROM the table."""
        every = [*self.keys, *answers]
        twice = [one for one in self.keys if every.count(one) > 1]
        if twice:
            raise ValueError(f"the key {twice[0]!r} would stand twice among the answers: rename that column")
        kept = {one: self.say.raw((KEY, one)) for one in self.keys}
        select = self.say.query(table_of(self.table), {**kept, **answers})
        return str(select.sql(self.say.dialect.name, pretty=True, copy=False))


def _names(features: Features, columns: Sequence[str] | None) -> Sequence[str]:
    """What the table calls the features (d,)."""
    if columns is None:
        if features.names is None:
            raise ValueError(
                "these columns were learned by number: give columns= with what the table calls them, in their order, "
                "or fit on a data frame"
            )
        return [str(name) for name in features.names]
    if isinstance(columns, str) or len(columns) != features.width or not all(isinstance(c, str) for c in columns):
        raise ValueError(f"columns must be a list of {features.width} names, got {show_all(columns)}")
    return columns
