"""A fitted classifier as a query, so that a database answers where the rows are."""

from __future__ import annotations

from collections.abc import Sequence

from suffice._answers import said, said_scores
from suffice._extras import optional
from suffice._posterior import posterior
from suffice._predicting import Predicting
from suffice.models import AnyStatistics


class Querying(Predicting):
    """The scoring query."""

    statistics_: AnyStatistics

    def to_sql(
        self,
        table: str | tuple[str, ...],
        dialect: str = "duckdb",
        keys: str | Sequence[str] = (),
        columns: Sequence[str] | None = None,
    ) -> str:
        """The query that scores the rows of a table: the probability of each class, and the label.

            SELECT keys, "p(a)", "p(b)", ..., "prediction" FROM table

        Probabilities are those of `predict_proba` (to 1e-9), labels those of `predict`. NULL and NaN are missing
        values, and a category that was never learned says nothing, as in Python. Where Python takes no missing value
        in a column, or another plane or covariance for it (planes, discriminant analysis, logistic regression,
        counts of words), such a row has NULL for an answer.

        Parameters
        ----------
        table : str, or (schema, name)
            What to select from.
        dialect : {"duckdb", "sqlite", "postgres"}, default="duckdb"
        keys : str or list of str, default=()
            Columns that come first, as they are: which row is which.
        columns : list of str, default=None
            What the table calls the features, in their order; by default what they were called when learned.

        Returns
        -------
        query : str
            Without a semicolon, so that it can stand in a view or in another query.

        Examples
        --------
        >>> import pandas as pd
        >>> from suffice import GaussianNB
        >>> X = pd.DataFrame({"age": [20.0, 30.0, 60.0, 70.0]})
        >>> query = GaussianNB().fit(X, ["well", "well", "ill", "ill"]).to_sql("people", keys="id")
        >>> import duckdb
        >>> people = pd.DataFrame({"id": [7], "age": [65.0]})
        >>> duckdb.sql(query).fetchall()[0][::3]
        (7, 'ill')
        """
        scoring = optional("suffice.data.sql", "sql")
        fit = self._fit_result()
        features = fit.model.encoder.inputs(self.statistics_.domain.features)
        source = scoring.Scoring.of(table, dialect, keys, features, columns, fit.model.encoder.holding())
        scores = said_scores(fit.model, fit.parameters, source.say)
        found = dict(zip(self._by_class("p(...)"), said(posterior, source.say, scores), strict=True))
        found["prediction"] = said(self._choice(), source.say, scores)[0]
        query: str = source.query(found)
        return query
