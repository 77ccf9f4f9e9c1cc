"""Plot of fitted estimators on matplotlib, in the manner of scikit-learn's ``Display`` classes.

Each class has constructors (``from_estimator``, ...) that compute what is drawn, a method ``plot`` that draws it into new or
given axes, and the attributes ``ax_`` and ``figure_`` afterwards. matplotlib is an optional dependency:
``pip install mercer[plot]``.

Examples
--------
>>> import numpy as np
>>> from mercer import SVC
>>> from mercer.plot import RegionDisplay
>>> X = np.array([[-1.0, -1], [-2, -1], [1, 1], [2, 1]])
>>> machine = SVC(gamma=1.0).fit(X, [0, 0, 1, 1])
>>> display = RegionDisplay.from_estimator(machine, X, [0, 0, 1, 1])
>>> display.ax_ is not None
True
"""

from __future__ import annotations

import numpy as np

__all__ = [
    "ComponentsDisplay",
    "ConfusionDisplay",
    "ReducedSetDisplay",
    "RegionDisplay",
    "RocDisplay",
    "SearchDisplay",
]

# Colours that can be distinguished with any colour vision (Okabe and Ito 2008).
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#f0e442", "#000000"]


def _pyplot():
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("mercer.plot requires matplotlib: pip install mercer[plot]") from error
    return plt


class _Display:
    """What all displays share: axes to draw into, and where they are kept."""

    def _axes(self, ax, **size):
        if ax is None:
            _, ax = _pyplot().subplots(**size)
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def _plane(X):
    X = np.asarray(X, dtype=float)
    if X.ndim != 2 or X.shape[1] != 2:
        raise ValueError(f"X has shape {X.shape}; regions are drawn for two columns")
    return X


def _nodes(X, grid):
    low, high = X.min(axis=0), X.max(axis=0)
    air = 0.08 * np.where(high > low, high - low, 1.0)
    x, y = (np.linspace(a, b, grid) for a, b in zip(low - air, high + air, strict=True))
    return np.meshgrid(x, y)


class RegionDisplay(_Display):
    """Decision regions, margin and support vectors of an estimator on two columns.

    Parameters
    ----------
    xx0, xx1 : ndarray of shape (grid, grid)
        Coordinates of the grid.
    response : ndarray of shape (grid, grid)
        Number of the predicted class, or the predicted number.
    decision : ndarray of shape (grid, grid) or None
        Decision values of a machine of two classes or of a novelty detector.
    points : ndarray of shape (n_samples, 2) or None
        Points that are drawn.
    labels : ndarray of shape (n_samples,) or None
        Their classes.
    support : ndarray of shape (n_SV, 2) or None
        Support vectors, which are circled.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it was drawn.
    figure_ : matplotlib figure
        Its figure.

    See Also
    --------
    sklearn.inspection.DecisionBoundaryDisplay : Regions of any classifier, without margin.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC
    >>> from mercer.plot import RegionDisplay
    >>> X = np.array([[-1.0, -1], [-2, -1], [1, 1], [2, 1]])
    >>> y = np.array([0, 0, 1, 1])
    >>> display = RegionDisplay.from_estimator(SVC(gamma=1.0).fit(X, y), X, y, grid=20)
    >>> display.decision.shape
    (20, 20)
    """

    def __init__(self, *, xx0, xx1, response, decision=None, points=None, labels=None, support=None, classes=None):
        self.xx0, self.xx1, self.response, self.decision = xx0, xx1, response, decision
        self.points, self.labels, self.support, self.classes = points, labels, support, classes

    @classmethod
    def from_estimator(cls, estimator, X, y=None, *, grid=200, ax=None):
        """Predict a grid around `X` and draw it.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier, regression or novelty detector on two columns.
        X : array-like of shape (n_samples, 2)
            Points to draw; the grid covers them.
        y : array-like of shape (n_samples,), default=None
            Their classes.
        grid : int, default=200
            Nodes of the grid per axis.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : RegionDisplay
        """
        X = _plane(X)
        xx0, xx1 = _nodes(X, grid)
        nodes = np.column_stack([xx0.ravel(), xx1.ravel()])
        classes = getattr(estimator, "classes_", None)
        found = estimator.predict(nodes)
        response = np.searchsorted(classes, found) if classes is not None else np.asarray(found, dtype=float)
        decision = None
        if hasattr(estimator, "decision_function") and (classes is None or len(classes) == 2):
            decision = np.asarray(estimator.decision_function(nodes)).reshape(xx0.shape)
        support = getattr(estimator, "support_vectors_", None)
        if support is not None:
            support = np.asarray(support.todense() if hasattr(support, "todense") else support)
        display = cls(
            xx0=xx0,
            xx1=xx1,
            response=response.reshape(xx0.shape),
            decision=decision,
            points=X,
            labels=None if y is None else np.asarray(y),
            support=support,
            classes=classes,
        )
        return display.plot(ax)

    def plot(self, ax=None):
        """Draw into `ax`, or into a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; those of a new figure by default.
        """
        from matplotlib.colors import ListedColormap

        ax = self._axes(ax, figsize=(5, 4))
        if self.classes is not None:
            count = len(self.classes)
            colours = ListedColormap([COLOURS[i % len(COLOURS)] for i in range(count)])
            ax.pcolormesh(
                self.xx0, self.xx1, self.response, cmap=colours, vmin=-0.5, vmax=count - 0.5, alpha=0.22, shading="auto"
            )
        elif self.decision is None:
            ax.contourf(self.xx0, self.xx1, self.response, levels=15, cmap="viridis")
        if self.decision is not None:
            # The margin of a classifier is at -1 and 1; a novelty detector has only the boundary.
            levels, styles = ([-1, 0, 1], ["--", "-", "--"]) if self.classes is not None else ([0], ["-"])
            ax.contour(self.xx0, self.xx1, self.decision, levels=levels, linestyles=styles, colors="#333", linewidths=1)
        if self.points is not None:
            if self.labels is None:
                ax.plot(*self.points.T, ".", color="#444", ms=4)
            else:
                for i, name in enumerate(np.unique(self.labels)):
                    mine = self.points[self.labels == name]
                    ax.plot(*mine.T, "osD^vP*X"[i % 8], color=COLOURS[i % len(COLOURS)], ms=4, label=str(name))
                ax.legend(fontsize=8, loc="best")
        if self.support is not None and self.support.shape[1] == 2:
            ax.plot(*self.support.T, "o", mfc="none", mec="#000", ms=8, mew=0.7)
        return self


class RocDisplay(_Display):
    """Receiver operating characteristic, one-vs-rest for more than two classes.

    Parameters
    ----------
    curves : list of tuple (name, fpr, tpr, area)
        The curves.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it was drawn.
    figure_ : matplotlib figure
        Its figure.

    See Also
    --------
    sklearn.metrics.RocCurveDisplay : One curve of two classes.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC
    >>> from mercer.plot import RocDisplay
    >>> X = np.array([[-1.0, -1], [-2, -1], [1, 1], [2, 1]])
    >>> y = np.array([0, 0, 1, 1])
    >>> display = RocDisplay.from_estimator(SVC(gamma=1.0).fit(X, y), X, y)
    >>> [(name, float(area)) for name, _, _, area in display.curves]
    [('1', 1.0)]
    """

    def __init__(self, *, curves):
        self.curves = curves

    @classmethod
    def from_estimator(cls, estimator, X, y, *, ax=None):
        """Draw the curves of a fitted classifier or novelty detector on labelled rows.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier, or a novelty detector whose outliers have the label -1 in `y`.
        X : array-like of shape (n_samples, n_features)
            Rows, preferably held out.
        y : array-like of shape (n_samples,)
            True classes.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : RocDisplay
        """
        y = np.asarray(y)
        classes = getattr(estimator, "classes_", None)
        if classes is None:
            return cls.from_predictions(y != -1, estimator.decision_function(X), name="inliers", ax=ax)
        if hasattr(estimator, "decision_function"):
            values = np.asarray(estimator.decision_function(X))
        else:
            values = np.asarray(estimator.predict_proba(X))
        if len(classes) == 2:
            values = values if values.ndim == 1 else values[:, 1]
            return cls.from_predictions(y == classes[1], values, name=str(classes[1]), ax=ax)
        if values.shape[1] != len(classes):
            raise ValueError("one decision value per class is required: decision_function_shape='ovr'")
        curves = [cls._curve(str(c), y == c, values[:, i]) for i, c in enumerate(classes)]
        return cls(curves=curves).plot(ax)

    @classmethod
    def from_predictions(cls, y_true, y_score, *, name="", ax=None):
        """Draw the ROC curve of decision values and true labels (True or 1 is positive).

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        y_score : array-like of shape (n_samples,)
            Decision values; larger is more likely to be positive.
        name : str, default=""
            Name in the legend.
        ax : matplotlib Axes, default=None
            Axes to draw on; those of a new figure by default.
        """
        return cls(curves=[cls._curve(name, np.asarray(y_true) == 1, np.asarray(y_score))]).plot(ax)

    @staticmethod
    def _curve(name, positive, score):
        from sklearn.metrics import auc, roc_curve

        fpr, tpr, _ = roc_curve(positive, score)
        return name, fpr, tpr, float(auc(fpr, tpr))

    def plot(self, ax=None):
        """Draw into `ax`, or into a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; those of a new figure by default.
        """
        ax = self._axes(ax, figsize=(4.5, 4.5))
        ax.plot([0, 1], [0, 1], ":", color="#999", lw=1)
        for i, (name, fpr, tpr, area) in enumerate(self.curves):
            ax.plot(fpr, tpr, color=COLOURS[i % len(COLOURS)], lw=1.5, label=f"{name} (area {area:.3f})".strip())
        ax.set(xlabel="false positive rate", ylabel="true positive rate", aspect="equal")
        ax.legend(fontsize=8, loc="lower right")
        return self


class ConfusionDisplay(_Display):
    """Confusion matrix: rows are the true classes, columns the predicted ones.

    Parameters
    ----------
    matrix : ndarray of shape (n_classes, n_classes)
        Counts.
    classes : sequence of str
        Names of the classes.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it was drawn.
    figure_ : matplotlib figure
        Its figure.

    See Also
    --------
    sklearn.metrics.ConfusionMatrixDisplay : The same with more options.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC
    >>> from mercer.plot import ConfusionDisplay
    >>> X = np.array([[-1.0, -1], [-2, -1], [1, 1], [2, 1]])
    >>> y = np.array([0, 0, 1, 1])
    >>> ConfusionDisplay.from_estimator(SVC(gamma=1.0).fit(X, y), X, y).matrix
    array([[2, 0],
           [0, 2]])
    """

    def __init__(self, *, matrix, classes):
        self.matrix, self.classes = matrix, classes

    @classmethod
    def from_estimator(cls, estimator, X, y, *, ax=None):
        """Predict rows and draw the counts.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier.
        X : array-like of shape (n_samples, n_features)
            Rows, preferably held out.
        y : array-like of shape (n_samples,)
            True classes.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : ConfusionDisplay
        """
        return cls.from_predictions(y, estimator.predict(X), ax=ax)

    @classmethod
    def from_predictions(cls, y_true, y_pred, *, ax=None):
        """Draw the confusion matrix of predicted and true classes.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        y_pred : array-like of shape (n_samples,)
            Predicted labels.
        ax : matplotlib Axes, default=None
            Axes to draw on; those of a new figure by default.
        """
        from sklearn.metrics import confusion_matrix

        classes = np.union1d(y_true, y_pred)
        return cls(matrix=confusion_matrix(y_true, y_pred, labels=classes), classes=[str(c) for c in classes]).plot(ax)

    def plot(self, ax=None):
        """Draw into `ax`, or into a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; those of a new figure by default.
        """
        count = len(self.classes)
        ax = self._axes(ax, figsize=(2.5 + 0.35 * count, 2.2 + 0.35 * count))
        # Errors matter, and the diagonal would drown them: colours follow the share of the true class.
        share = self.matrix / np.maximum(1, self.matrix.sum(axis=1, keepdims=True))
        ax.imshow(share, cmap="Blues", vmin=0, vmax=1)
        for i in range(count):
            for j in range(count):
                if self.matrix[i, j]:
                    colour = "white" if share[i, j] > 0.5 else "black"
                    ax.text(j, i, str(self.matrix[i, j]), ha="center", va="center", color=colour, fontsize=8)
        ax.set_xticks(range(count), self.classes)
        ax.set_yticks(range(count), self.classes)
        ax.set(xlabel="predicted", ylabel="true")
        return self


class ComponentsDisplay(_Display):
    """Kernel principal components over the plane, as contour lines.

    Parameters
    ----------
    xx0, xx1 : ndarray of shape (grid, grid)
        Coordinates of the grid.
    features : ndarray of shape (grid, grid, n_components)
        Projections of the nodes.
    points : ndarray of shape (n_samples, 2)
        Points that are drawn.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it was drawn.
    figure_ : matplotlib figure
        Its figure.

    See Also
    --------
    RegionDisplay : Decision regions over the plane.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> from mercer.plot import ComponentsDisplay
    >>> X = np.array([[-1.0, -1], [-2, -1], [1, 1], [2, 1]])
    >>> display = ComponentsDisplay.from_estimator(KernelPCA(n_components=2, gamma=1.0).fit(X), X, components=2, grid=20)
    >>> display.features.shape
    (20, 20, 2)
    """

    def __init__(self, *, xx0, xx1, features, points):
        self.xx0, self.xx1, self.features, self.points = xx0, xx1, features, points

    @classmethod
    def from_estimator(cls, estimator, X, *, components=3, grid=100, axes=None):
        """Project a grid around `X` and draw the first components.

        Parameters
        ----------
        estimator : transformer
            A fitted :class:`mercer.KernelPCA`, or another transformer, on two columns.
        X : array-like of shape (n_samples, 2)
            Points to draw; the grid covers them.
        components : int, default=3
            Number of components to draw.
        grid : int, default=100
            Nodes of the grid per axis.
        axes : sequence of matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : ComponentsDisplay
        """
        X = _plane(X)
        xx0, xx1 = _nodes(X, grid)
        features = np.asarray(estimator.transform(np.column_stack([xx0.ravel(), xx1.ravel()])))
        features = features[:, :components].reshape(*xx0.shape, -1)
        return cls(xx0=xx0, xx1=xx1, features=features, points=X).plot(axes)

    def plot(self, axes=None):
        """Draw into `axes`, one per component, or into a new figure.

        Parameters
        ----------
        axes : array of matplotlib Axes, default=None
            One for each component; those of a new figure by default.
        """
        count = self.features.shape[2]
        if axes is None:
            _, axes = _pyplot().subplots(1, count, figsize=(3 * count, 2.8), sharey=True, squeeze=False)
        axes = np.ravel(axes)
        for i, ax in zip(range(count), axes, strict=False):
            ax.contour(self.xx0, self.xx1, self.features[..., i], levels=12, cmap="viridis", linewidths=0.8)
            ax.plot(*self.points.T, ".", color="#444", ms=2)
            ax.set_title(f"component {i + 1}", fontsize=9)
        self.ax_, self.figure_ = axes, axes[0].figure
        return self


class ReducedSetDisplay(_Display):
    """A machine and its compressed form: both decision boundaries, and the new centres.

    Parameters
    ----------
    xx0, xx1 : ndarray of shape (grid, grid)
        Coordinates of the grid.
    before, after : ndarray of shape (grid, grid)
        Decision values of the machine and of the compressed one.
    centres : ndarray of shape (n_centres, 2)
        Centres of the compressed machine.
    points, labels : ndarray
        Points that are drawn, and their classes.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it was drawn.
    figure_ : matplotlib figure
        Its figure.

    See Also
    --------
    mercer.compress : Makes the compressed machine.
    RegionDisplay : Decision regions of one machine.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import SVC, compress
    >>> from mercer.plot import ReducedSetDisplay
    >>> X, y = make_moons(100, noise=0.1, random_state=0)
    >>> machine = SVC(gamma=2.0).fit(X, y)
    >>> display = ReducedSetDisplay.from_estimators(machine, compress(machine, X, y, vectors=6), X, y, grid=20)
    >>> len(display.centres)
    6
    """

    def __init__(self, *, xx0, xx1, before, after, centres, points, labels=None):
        self.xx0, self.xx1, self.before, self.after = xx0, xx1, before, after
        self.centres, self.points, self.labels = centres, points, labels

    @classmethod
    def from_estimators(cls, estimator, compressed, X, y=None, *, grid=200, ax=None):
        """Draw a machine of two classes and what :func:`mercer.compress` made of it.

        Parameters
        ----------
        estimator : classifier
            The fitted machine.
        compressed : classifier
            The compressed machine.
        X : array-like of shape (n_samples, 2)
            Points to draw; the grid covers them.
        y : array-like of shape (n_samples,), default=None
            Their classes.
        grid : int, default=200
            Nodes of the grid per axis.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : ReducedSetDisplay
        """
        X = _plane(X)
        xx0, xx1 = _nodes(X, grid)
        nodes = np.column_stack([xx0.ravel(), xx1.ravel()])
        before, after = (np.asarray(e.decision_function(nodes)).reshape(xx0.shape) for e in (estimator, compressed))
        return cls(
            xx0=xx0,
            xx1=xx1,
            before=before,
            after=after,
            centres=np.asarray(compressed.support_vectors_),
            points=X,
            labels=None if y is None else np.asarray(y),
        ).plot(ax)

    def plot(self, ax=None):
        """Draw into `ax`, or into a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; those of a new figure by default.
        """
        ax = self._axes(ax, figsize=(5, 4))
        if self.labels is None:
            ax.plot(*self.points.T, ".", color="#999", ms=3)
        else:
            for i, name in enumerate(np.unique(self.labels)):
                ax.plot(*self.points[self.labels == name].T, ".", color=COLOURS[i % len(COLOURS)], ms=4, alpha=0.6)
        ax.contour(self.xx0, self.xx1, self.before, levels=[0], colors="#333", linewidths=1.2)
        ax.contour(self.xx0, self.xx1, self.after, levels=[0], colors="#c0392b", linestyles="--", linewidths=1.2)
        ax.plot(*self.centres.T, "*", color="#c0392b", ms=9, label=f"{len(self.centres)} centres")
        ax.legend(fontsize=8)
        return self


class SearchDisplay(_Display):
    """Scores of a search over two parameters as a heat map.

    Parameters
    ----------
    rows, columns : tuple (name, values)
        The parameters.
    scores : ndarray of shape (n_rows, n_columns)
        Mean scores; where other parameters vary too, the best over them.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it was drawn.
    figure_ : matplotlib figure
        Its figure.

    See Also
    --------
    sklearn.model_selection.GridSearchCV : A search whose results it draws.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.model_selection import GridSearchCV
    >>> from mercer import SVC
    >>> from mercer.plot import SearchDisplay
    >>> X, y = make_moons(60, noise=0.1, random_state=0)
    >>> search = GridSearchCV(SVC(), {"C": [1, 10], "gamma": [0.1, 1, 10]}, cv=3).fit(X, y)
    >>> SearchDisplay.from_search(search).scores.shape
    (2, 3)
    """

    def __init__(self, *, rows, columns, scores):
        self.rows, self.columns, self.scores = rows, columns, scores

    @classmethod
    def from_search(cls, search, *, rows=None, columns=None, ax=None):
        """Draw the mean test scores of a fitted search.

        Parameters
        ----------
        search : GridSearchCV or similar
            A fitted search of scikit-learn, with ``cv_results_``.
        rows, columns : str, default=None
            Names of the parameters; None takes the two with most values.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : SearchDisplay
        """
        tried = search.cv_results_["params"]
        found = {name: sorted({p[name] for p in tried if name in p}, key=_order) for p in tried for name in p}
        names = sorted(found, key=lambda name: -len(found[name]))
        columns = columns or names[0]
        rows = rows or next((n for n in names if n != columns), columns)
        scores = np.full((len(found[rows]), len(found[columns])), np.nan)
        for params, score in zip(tried, search.cv_results_["mean_test_score"], strict=True):
            i, j = found[rows].index(params[rows]), found[columns].index(params[columns])
            scores[i, j] = np.nanmax([scores[i, j], score])
        return cls(rows=(rows, found[rows]), columns=(columns, found[columns]), scores=scores).plot(ax)

    def plot(self, ax=None):
        """Draw into `ax`, or into a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; those of a new figure by default.
        """
        height, width = self.scores.shape
        ax = self._axes(ax, figsize=(2 + 0.7 * width, 1.6 + 0.5 * height))
        image = ax.imshow(self.scores, cmap="viridis", aspect="auto")
        ax.figure.colorbar(image, ax=ax, label="mean score")
        best = np.unravel_index(np.nanargmax(self.scores), self.scores.shape)
        ax.plot(best[1], best[0], "s", mfc="none", mec="white", ms=16)
        for axis, (name, values) in ((ax.xaxis, self.columns), (ax.yaxis, self.rows)):
            axis.set_ticks(range(len(values)), [f"{v:.3g}" if isinstance(v, float) else str(v) for v in values])
            axis.set_label_text(name)
        return self


def _order(value):
    """Numbers by size before words by letters."""
    return (0, float(value), "") if isinstance(value, (int, float)) else (1, 0.0, str(value))
