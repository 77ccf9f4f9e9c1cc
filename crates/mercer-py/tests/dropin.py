"""Runs scikit-learn's own test files with Mercer's estimators in place of scikit-learn's.

The files of the classes that are replaced run whole; of the files about scikit-learn's tools (calibration, searches,
pipelines, ensembles, ...) those tests that name one of the classes.

``python dropin.py [pytest's arguments]`` puts Mercer's classes under scikit-learn's names before the test modules are
imported, and runs the files that scikit-learn's wheel brings along. Tests that are expected to fail are listed with their
reasons in dropin.toml; one that starts to pass, or that no longer exists, fails the run.
"""

import inspect
import re
import sys
import tomllib
from pathlib import Path

import pytest
import sklearn
import sklearn.decomposition
import sklearn.kernel_approximation
import sklearn.kernel_ridge
import sklearn.svm

import mercer

MODULES = {
    sklearn.svm: ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "LinearSVC", "LinearSVR"),
    sklearn.decomposition: ("KernelPCA",),
    sklearn.kernel_ridge: ("KernelRidge",),
    sklearn.kernel_approximation: ("Nystroem", "RBFSampler"),
}
HOME = Path(sklearn.__file__).parent
FILES = ("svm/tests", "decomposition/tests/test_kernel_pca.py", "tests/test_kernel_ridge.py", "tests/test_kernel_approximation.py")
# Tools that are given one of the classes.
USERS = (
    "ensemble/tests",
    "feature_extraction/tests/test_text.py",
    "feature_selection/tests",
    "inspection",
    "linear_model/tests",
    "manifold/tests",
    "metrics",
    "model_selection/tests",
    "neighbors/tests",
    "preprocessing/tests",
    "semi_supervised/tests",
    "tests/test_base.py",
    "tests/test_calibration.py",
    "tests/test_metaestimators.py",
    "tests/test_multiclass.py",
    "tests/test_multioutput.py",
    "tests/test_pipeline.py",
    "utils/_repr_html/tests",
    "utils/tests",
)
NAMED = re.compile(r"\b(" + "|".join(name for names in MODULES.values() for name in names) + r")\b")
EXPECTED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())


class Expected:
    """Marks the tests that are expected to fail."""

    def __init__(self):
        self.met = set()

    @staticmethod
    def is_of_another_class(item):
        """Whether a test of a tool names none of the classes."""
        file = item.path.relative_to(HOME).as_posix()
        return not file.startswith(FILES) and not NAMED.search(inspect.getsource(item.function) + item.name)

    def pytest_collection_modifyitems(self, config, items):
        others = [item for item in items if self.is_of_another_class(item)]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in set(others)]
        for item in items:
            file, _, name = item.nodeid.rpartition("::")
            known = EXPECTED.get(Path(file).name, {})
            reason = known.get(name)
            if reason is None and "[" in name:
                reason = known.get(name.partition("[")[0])
                name = name.partition("[")[0]
            if reason is not None:
                self.met.add((Path(file).name, name))
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


def files_of_users():
    """Files about tools in which one of the classes is named; importing the others would only take time."""
    files = [file for user in USERS for file in sorted((HOME / user).rglob("test_*.py") if (HOME / user).is_dir() else [HOME / user])]
    return [file.relative_to(HOME).as_posix() for file in files if NAMED.search(file.read_text())]


def main(arguments):
    for module, names in MODULES.items():
        for name in names:
            setattr(module, name, getattr(mercer, name))
    expected = Expected()
    files = [str(HOME / file) for file in (*FILES, *files_of_users())]
    code = pytest.main(["-q", "-p", "no:cacheprovider", "--rootdir", str(HOME), *arguments, *files], plugins=[expected])
    gone = {(file, name) for file, names in EXPECTED.items() for name in names} - expected.met
    if gone and not arguments:
        print("expected to fail, but there is no such test:", *sorted(map("::".join, gone)), sep="\n  ")
        return 1
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
