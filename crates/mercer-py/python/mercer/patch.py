"""Mercer's estimators under scikit-learn's names, for scripts that cannot be changed.

``python -m mercer.patch script.py`` runs a script so; :func:`patch_sklearn` and :func:`unpatch_sklearn` do it from code, before
the names are imported. A fit that Mercer refuses is done by scikit-learn, and the logger ``mercer.patch`` says so.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import logging
import os
import runpy
import sys

from . import svm as machines
from .kpca import KernelPCA as _KernelPCA
from .linear import LinearSVC as _LinearSVC
from .linear import LinearSVR as _LinearSVR
from .maps import Nystroem as _Nystroem
from .maps import RBFSampler as _RBFSampler
from .ridge import KernelRidge as _KernelRidge

__all__ = ["patch_sklearn", "unpatch_sklearn", "is_patched", "main"]

logger = logging.getLogger("mercer.patch")

#: Names that are replaced: module, class, and what replaces it.
TABLE = (
    ("sklearn.svm", "SVC", machines.SVC),
    ("sklearn.svm", "NuSVC", machines.NuSVC),
    ("sklearn.svm", "SVR", machines.SVR),
    ("sklearn.svm", "NuSVR", machines.NuSVR),
    ("sklearn.svm", "OneClassSVM", machines.OneClassSVM),
    ("sklearn.svm", "LinearSVC", _LinearSVC),
    ("sklearn.svm", "LinearSVR", _LinearSVR),
    ("sklearn.decomposition", "KernelPCA", _KernelPCA),
    ("sklearn.kernel_ridge", "KernelRidge", _KernelRidge),
    ("sklearn.kernel_approximation", "Nystroem", _Nystroem),
    ("sklearn.kernel_approximation", "RBFSampler", _RBFSampler),
)
#: What a fitted estimator is asked, beside its attributes.
ASKED = (
    "predict",
    "decision_function",
    "predict_proba",
    "predict_log_proba",
    "score_samples",
    "transform",
    "inverse_transform",
    "sparsify",
    "densify",
)


def _replacement(name, theirs, ours):
    """A subclass of ours with exactly the parameters of theirs, which falls back to theirs."""
    signature = inspect.signature(theirs.__init__)
    defaults = {p.name: p.default for p in inspect.signature(ours.__init__).parameters.values() if p.name != "self"}
    wanted = set(signature.parameters) - {"self"}

    def _fit(self, *args, **kwargs):
        self.__dict__.pop("_theirs", None)
        try:
            ours.fit(self, *args, **kwargs)
        except Exception as error:  # noqa: BLE001: whatever Mercer refuses, scikit-learn may do
            other = theirs(**{name: getattr(self, name) for name in wanted})
            other.fit(*args, **kwargs)
            logger.warning("%s.fit is done by scikit-learn: %s", name, error)
            if hasattr(self, "_sklearn_output_config"):
                other._sklearn_output_config = self._sklearn_output_config
            self._theirs = other
        return self

    # Which metadata are routed to a fit is read off its signature when the class is made.
    _fit.__signature__ = inspect.signature(theirs.fit)
    _fit.__doc__, _fit.__name__ = ours.fit.__doc__, "fit"

    class Patched(ours):
        def __init__(self, *args, **kwargs):
            try:
                bound = signature.bind(self, *args, **kwargs)
            except TypeError:
                # In the words of scikit-learn's own constructor.
                theirs(*args, **kwargs)
                raise
            bound.apply_defaults()
            given = {name: value for name, value in bound.arguments.items() if name != "self"}
            # What only Mercer has stays at its default; what only scikit-learn has is kept, and handed on to it.
            for name, value in {**defaults, **given}.items():
                setattr(self, name, value)

        fit = _fit

        def _memory(self):
            # scikit-learn's default is the size of a cache of rows, and no limit to the memory of a fit.
            return None

        def __getattribute__(self, name):
            theirs = object.__getattribute__(self, "__dict__").get("_theirs")
            if theirs is not None and (name in ASKED or (name.endswith("_") and not name.startswith("_"))):
                return getattr(theirs, name)
            return super().__getattribute__(name)

    Patched.__init__.__signature__ = signature
    Patched.__doc__ = ours.__doc__
    Patched.__name__ = Patched.__qualname__ = name
    Patched.__module__ = __name__
    return Patched


_ORIGINAL = {(home, name): getattr(importlib.import_module(home), name) for home, name, _ in TABLE}
# As attributes of this module, so that pickles find them.
_PATCHED = {(home, name): _replacement(name, _ORIGINAL[home, name], ours) for home, name, ours in TABLE}
for (_, _name), _class in _PATCHED.items():
    globals()[_name] = _class


def _chosen(names):
    known = {name for _, name, _ in TABLE}
    wanted = known if names is None else set(names)
    if not wanted <= known:
        raise ValueError(f"names = {sorted(wanted - known)}: must be among {sorted(known)}")
    return [(home, name) for home, name, _ in TABLE if name in wanted]


def patch_sklearn(names=None):
    """Replace scikit-learn's estimators by Mercer's.

    Only names that are imported afterwards are replaced: call it before ``from sklearn.svm import SVC``.

    Parameters
    ----------
    names : iterable of str, default=None
        Classes to replace, such as ``["SVC", "KernelPCA"]``; None: all that Mercer has.

    Examples
    --------
    >>> import mercer
    >>> mercer.patch_sklearn(["SVC"])
    >>> from sklearn.svm import SVC
    >>> SVC.__module__
    'mercer.patch'
    >>> mercer.unpatch_sklearn()
    """
    for home, name in _chosen(names):
        setattr(importlib.import_module(home), name, _PATCHED[home, name])
        logger.info("%s.%s is Mercer's", home, name)


def unpatch_sklearn(names=None):
    """Restore scikit-learn's own estimators.

    Parameters
    ----------
    names : iterable of str, default=None
        Classes to restore; None: all.
    """
    for home, name in _chosen(names):
        setattr(importlib.import_module(home), name, _ORIGINAL[home, name])


def is_patched(name="SVC"):
    """Whether a class of scikit-learn is currently replaced by Mercer's.

    Parameters
    ----------
    name : str, default='SVC'

    Returns
    -------
    bool
    """
    return all(getattr(importlib.import_module(h), n) is _PATCHED[h, n] for h, n in _chosen([name]))


def main(arguments=None):
    """Run a script or a module with Mercer's estimators under scikit-learn's names."""
    parser = argparse.ArgumentParser(
        prog="python -m mercer.patch", description="Run a script with Mercer's estimators in place of scikit-learn's."
    )
    parser.add_argument("-m", dest="module", action="store_true", help="run a module instead of a file, as python -m")
    parser.add_argument("--verbose", action="store_true", help="log which classes are replaced")
    parser.add_argument("script", help="the script, or the module's name with -m")
    parser.add_argument("args", nargs=argparse.REMAINDER, help="its arguments")
    given = parser.parse_args(arguments)
    if given.verbose:
        logging.basicConfig(level=logging.INFO)
    # The module that runs as __main__ is another copy: the one that pickles find does the work.
    importlib.import_module("mercer.patch").patch_sklearn()
    sys.argv = [given.script, *given.args]
    if given.module:
        sys.path[0] = os.getcwd()
        runpy.run_module(given.script, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(given.script))
        runpy.run_path(given.script, run_name="__main__")


if __name__ == "__main__":
    main()
