"""A search for settings on a cluster: a unit is one kernel on one fold."""

from __future__ import annotations

import json

import numpy as np

from .. import _mercer
from .._base import FLOATS
from .._data import check_labels, rows_of, threads_of, type_of, watcher
from .._frames import column_names, is_table, table_rows
from ..convert import wrap
from ..svm import answers_of
from . import _cluster
from ._cluster import RETRIES, aligned, arriving, client_of, freed, key, lost, result_of, spread

__all__ = ["Search", "tune"]


class Search:
    """What a search found.

    Attributes
    ----------
    best_estimator_ : estimator
        The best setting, fitted on all rows; None where ``refit=False``.
    best_params_ : dict
        ``kernel`` and the parameters of the best setting.
    best_score_ : float
        Its mean over folds.
    metric_ : str
        Metric by which settings were compared.
    cv_results_ : list of dict
        Every setting of the last stage: ``kernel``, ``params``, ``mean``, ``error``, ``folds``, ``failed``.
    stages_ : list of list of dict
        The same for all stages.
    known_ : int
        Number of scores read from the checkpoint.
    notes_ : list of str
        Notes about the scores.
    """

    def __init__(self, model, found):
        self.best_estimator_ = None if model is None else wrap(model)
        best = found["best"]
        self.best_params_ = {"kernel": best["kernel"], **best["params"]}
        self.best_score_ = best["mean"]
        self.metric_ = found["metric"]
        self.higher_is_better_ = found["higher_is_better"]
        self.stages_ = found["stages"]
        self.cv_results_ = found["stages"][-1]
        self.known_ = found["known"]
        self.notes_ = found["notes"]
        self.seconds_ = found["seconds"]

    def to_local(self):
        """The best estimator: an ordinary one, that needs no cluster."""
        if self.best_estimator_ is None:
            raise AttributeError("refit=False: there is no fitted estimator")
        return self.best_estimator_

    def __repr__(self):
        told = ", ".join(f"{name}={value!r}" for name, value in self.best_params_.items())
        return f"<Search: {told}; {self.metric_} {self.best_score_:.4g}>"


class Work:
    """Rows and targets on a worker, with the compiled judge made of them when it is first needed."""

    def __init__(self, rows, answers, frame):
        self.parts = (rows, answers, frame)
        self._judge = None

    def __getstate__(self):
        return self.parts

    def __setstate__(self, parts):
        self.__init__(*parts)

    def judge(self):
        # Two tasks at once may both make one: they are equal, and one of them goes.
        if self._judge is None:
            self._judge = _mercer.Judge(*aligned(self.parts))
        return self._judge


def _unit(work, unit):
    threads = _cluster.threads_here()
    limit = _cluster.memory_here()
    # Half of a worker's memory: rows, Python and Dask need the rest.
    memory = None if limit is None else limit // 2
    stop = _cluster.unwanted_check()
    return work.judge().scores(unit, workers=threads, threads=threads, memory=memory, callback=stop)


class Hands:
    """What the compiled search has its units done by."""

    def __init__(self, client, rows, answers):
        self.client, self.data = client, (rows, answers)
        self.running = None

    def __call__(self, frame, units):
        """An iterator of `(unit, scores)`; None where it has only waited."""
        self.running = self._done(frame, units)
        return self.running

    def close(self):
        """Free the workers."""
        if self.running is not None:
            self.running.close()

    def _done(self, frame, units):
        client, kept, left = self.client, [], dict(enumerate(units))
        with freed(client, kept):
            for attempt in range(RETRIES + 1):
                work = spread(client, Work(*self.data, frame), _bytes(self.data[0]))
                kept.append(work)
                futures = {}
                for number, unit in left.items():
                    futures[client.submit(_unit, work, unit, key=key("unit"), priority=-number)] = number
                kept.extend(futures)
                failed = None
                for future in arriving(client, list(futures)):
                    if future is None:
                        yield None
                        continue
                    number = futures.pop(future)
                    try:
                        scores = result_of(client, future)
                    except _cluster.LOST as error:
                        failed = error
                        break
                    del left[number]
                    yield number, scores
                if failed is None:
                    return
                if attempt == RETRIES:
                    raise lost(failed, "a unit of the search") from failed
                client.cancel(list(futures))


def tune(
    client,
    X,
    y,
    *,
    learner=None,
    kernel=None,
    params=None,
    grid=None,
    scale=None,
    folds=5,
    repeats=1,
    leave_one_out=False,
    groups=None,
    metric=None,
    two_stage=False,
    median=False,
    race=False,
    seed=0,
    checkpoint=None,
    refit=True,
    task=None,
    n_jobs=None,
    verbose=False,
    callback=None,
):
    """Search for the best settings by cross-validation on all workers: ``mercer tune``, its fits done by a cluster.

    The settings found, and every score, are those of the search on one machine, bit for bit, as long as kernel matrices fit
    into half of a worker's memory. All rows go to every worker once. The best setting is fitted on the client.

    Parameters
    ----------
    client : distributed.Client or None
        The cluster; None searches in this process.
    X : array-like, sparse matrix, frame or Dask collection
        Training rows; a collection is computed and brought to the client.
    y : array-like
        Classes or numbers.
    learner : str, default=None
        A name of ``mercer train --learner``; None: the default of the task.
    kernel : str or list of str, default=None
        ``'rbf'``, ``'poly'``, ``'linear'``, ``'sigmoid'``, ``'auto'`` or whole lines; None: the learner's usual one.
    params : dict, default=None
        Parameters of the learner that are not searched.
    grid : dict, default=None
        Values to try by parameter: ``{'c': [1, 10], 'gamma': [0.1, 1]}``. Parameters not given are chosen from the data.
    scale : str, default=None
        Stages fitted inside the folds, such as ``'standard'`` or ``'minmax | unit'``; ``'none'``: none; None: chosen from the data.
    folds : int, default=5
    repeats : int, default=1
        Number of repetitions with different folds.
    leave_one_out : bool, default=False
    groups : array-like, default=None
        The group of each row; a group is never split between folds.
    metric : str, default=None
        As in ``mercer tune --metric``; None: error, or root mean squared error.
    two_stage : bool, default=False
        A coarse grid first, then a finer one around its best.
    median : bool, default=False
        With repeats: choose on each repetition and take the median of the choices.
    race : bool, default=False
        Drop settings that cannot win before all folds are trained.
    seed : int, default=0
    checkpoint : str or path-like, default=None
        A file on the client that keeps scores: an interrupted search continues from it.
    refit : bool, default=True
        Fit the best setting on all rows.
    task : {'classification', 'regression'}, default=None
        None: regression if y are floats that are not whole.
    n_jobs : int, default=None
        Threads of the client.
    verbose : bool, default=False
        Whether to show a progress bar, if tqdm is installed.
    callback : callable, default=None
        Called with a :class:`mercer.Progress`; if it returns True, the search ends with the best setting so far.

    Returns
    -------
    Search
    """
    if client is not None:
        client = client_of(client)
        _cluster.check_versions(client)
    X, y = _here(client, X), _here(client, y)
    rows, columns = _rows(X)
    answers, classes = _answers(y, task)
    if (n := len(answers[1] if isinstance(answers, tuple) else answers)) != _rows_in(rows):
        raise ValueError(f"y: got {n} values, expected one per row ({_rows_in(rows)})")
    options = {
        "learner": learner,
        "kernels": [kernel] if isinstance(kernel, str) else [str(line) for line in kernel or ()],
        "params": params or {},
        "axes": [(str(name), [float(v) for v in np.atleast_1d(values)]) for name, values in (grid or {}).items()],
        "scale": _stages(scale),
        "folds": int(folds),
        "repeats": int(repeats),
        "leave_one_out": bool(leave_one_out),
        "groups": None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1].tolist(),
        "metric": metric,
        "two_stage": bool(two_stage),
        "median": bool(median),
        "race": bool(race),
        "seed": int(seed),
        "checkpoint": None if checkpoint is None else str(checkpoint),
    }
    hear, done = watcher(verbose, callback)
    hands = None if client is None else Hands(client, rows, answers)
    try:
        model, found = _mercer.search(
            rows,
            answers,
            json.dumps(options),
            hands=hands,
            refit=bool(refit),
            threads=threads_of(n_jobs),
            columns=columns,
            labels=None if classes is None else type_of(classes),
            callback=hear,
        )
    finally:
        done()
        if hands is not None:
            hands.close()
    return Search(model, json.loads(found))


def _here(client, data):
    """A collection of Dask as what it holds."""
    if not hasattr(data, "__dask_graph__"):
        return data
    return data.compute() if client is None else _cluster.result_of(client, client.compute(data))


def _rows(X):
    """Rows for the compiled part, and the names of their columns."""
    from sklearn.utils import check_array

    names = column_names(X)
    columns = [str(name) for name in names] if names and all(isinstance(name, str) for name in names) else None
    if is_table(X):
        return rows_of(table_rows(X, names)), columns
    return rows_of(check_array(X, accept_sparse="csr", dtype=FLOATS, order="C")), columns


def _rows_in(rows):
    if isinstance(rows, tuple):
        return len(rows[2]) - 1 if len(rows) == 4 else len(rows[1][0])
    return len(rows)


def _bytes(rows):
    """Bytes of rows, about."""
    if not isinstance(rows, tuple):
        return rows.nbytes
    if len(rows) == 4:
        return sum(part.nbytes for part in rows[:3])
    return sum(column.nbytes if hasattr(column, "nbytes") else 64 * len(column) for column in rows[1])


def _answers(y, task):
    if task not in (None, "classification", "regression"):
        raise ValueError(f"task = {task!r}: must be None, 'classification' or 'regression'")
    y = np.asarray(y).ravel() if not isinstance(y, list) else y
    if task is None:
        values = np.asarray(y)
        amounts = values.dtype.kind == "f" and not np.all(np.isfinite(values) & (values == np.floor(values)))
        task = "regression" if amounts else "classification"
    if task == "regression":
        return np.ascontiguousarray(y, dtype=np.float64), None
    check_labels(y)
    classes, answers = answers_of(np.asarray(y))
    return answers, classes


def _stages(scale):
    if scale is None or scale == "auto":
        return None
    return [] if scale == "none" else [part.strip() for part in scale.split("|")]
