"""Runs scikit-learn's own test files with Mercer's estimators in place of scikit-learn's.

``python dropin.py [pytest's arguments]`` puts Mercer's classes under scikit-learn's names before the test modules are
imported, and runs the files that scikit-learn's wheel brings along. Tests that are expected to fail are listed with their
reasons in dropin.toml; one that starts to pass, or that no longer exists, fails the run.
"""

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
FILES = ("svm/tests", "decomposition/tests/test_kernel_pca.py", "tests/test_kernel_ridge.py", "tests/test_kernel_approximation.py")
EXPECTED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())


class Expected:
    """Marks the tests that are expected to fail."""

    def __init__(self):
        self.met = set()

    def pytest_collection_modifyitems(self, items):
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


def main(arguments):
    for module, names in MODULES.items():
        for name in names:
            setattr(module, name, getattr(mercer, name))
    home = Path(sklearn.__file__).parent
    expected = Expected()
    files = [str(home / file) for file in FILES]
    code = pytest.main(["-q", "-p", "no:cacheprovider", "--rootdir", str(home), *arguments, *files], plugins=[expected])
    gone = {(file, name) for file, names in EXPECTED.items() for name in names} - expected.met
    if gone and not arguments:
        print("expected to fail, but there is no such test:", *sorted(map("::".join, gone)), sep="\n  ")
        return 1
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
