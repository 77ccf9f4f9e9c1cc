"""Tables as numbers."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _mercer
from ._data import array_of, as_configured
from ._frames import column_names, table_rows


class TableEncoder(TransformerMixin, BaseEstimator):
    """Frames with text, dates and missing values as numbers, as the command ``mercer train`` sees them.

    Categories become columns of 0 and 1, dates calendar parts, missing values the median with a column that marks them;
    identifiers, constants and free text are ignored. Estimators do the same by themselves when they are fitted on a frame
    with a column that is not one of numbers; this is for pipelines with estimators of other packages.

    Parameters
    ----------
    columns : dict, default=None
        Kinds of columns by name, such as ``{"zip": "category"}``: ``number``, ``category``, ``ordered(small<large)``,
        ``yes/no``, ``date``, or ``text`` and ``identifier``, which are ignored. The kinds of the others are detected.
    scale : bool, default=True
        Whether numbers are standardised.

    Attributes
    ----------
    stages_ : Stages
        The fitted stages.
    feature_names_in_ : ndarray of shape (n_features_in_,)
    n_features_in_ : int

    See Also
    --------
    AutoClassifier : Encodes tables by itself.
    AutoRegressor : Encodes tables by itself.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer import TableEncoder
    >>> frame = pd.DataFrame({"age": [31.0, None, 58.0, 40.0] * 5, "colour": ["red", "blue", "blue", "red"] * 5})
    >>> encoder = TableEncoder().fit(frame)
    >>> encoder.transform(frame).shape[0]
    20
    >>> [str(name) for name in encoder.get_feature_names_out()]
    ['age', 'age is missing', 'colour=blue', 'colour=red']
    """

    def __init__(self, *, columns=None, scale=True):
        self.columns = columns
        self.scale = scale

    def fit(self, X, y=None):
        """Fit the encoding of each column.

        Parameters
        ----------
        X : frame of pandas or polars, or structured array
        y : ignored

        Returns
        -------
        self : TableEncoder
        """
        names = column_names(X)
        if names is None:
            raise ValueError("X must be a frame of pandas or polars, or a structured array")
        kinds = dict(self.columns or {})
        unknown = sorted(set(kinds) - set(names))
        if unknown:
            raise ValueError(f"columns: {unknown[0]!r} is not a column of X")
        rows = table_rows(X, names, [kinds.get(name) for name in names])
        self.stages_ = _mercer.Stages("table | standard(indicators=keep)" if self.scale else "table", rows.parts)
        self.feature_names_in_ = np.array(names, dtype=object)
        self.n_features_in_ = len(names)
        return self

    def transform(self, X):
        """Convert a table to numbers.

        Parameters
        ----------
        X : frame of pandas or polars, or structured array
            With the columns of the training frame, in any order; others are ignored.

        Returns
        -------
        X_new : ndarray or sparse array of shape (n_samples, n_outputs)
        """
        check_is_fitted(self)
        kinds = dict(self.columns or {})
        names = list(self.feature_names_in_)
        rows = table_rows(X, names, [kinds.get(name) for name in names])
        return as_configured(array_of(self.stages_.apply(rows.parts)))

    def get_feature_names_out(self, input_features=None):
        """Names of the columns of numbers.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        names : ndarray of str objects
        """
        check_is_fitted(self)
        columns = self.stages_.table_columns() or []
        return np.array([name for *_, outputs in columns for name in outputs], dtype=object)
