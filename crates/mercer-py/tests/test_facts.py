"""What is said of a model and of parameters is true, or not said."""

import json

import numpy as np
import pytest
import sklearn.svm

import mercer

rng = np.random.default_rng(1)
X = rng.normal(size=(60, 3))
y = (X[:, 0] + X[:, 1] > 0).astype(int)


def params(estimator):
    return json.loads(estimator.model_.describe())["params"]


@pytest.mark.parametrize(
    ("theirs", "known"),
    [
        (sklearn.svm.SVC(C=7, tol=1e-4), {"c": 7, "tol": 1e-4}),
        (sklearn.svm.SVC(C=3, class_weight={0: 2.0, 1: 0.5}), {"class_weights": {"given": {"0": 2.0, "1": 0.5}}}),
        (sklearn.svm.NuSVC(nu=0.3), {"nu": 0.3, "kind": "nu"}),
        (sklearn.svm.SVR(C=5, epsilon=0.25), {"c": 5, "epsilon": 0.25}),
        (sklearn.svm.NuSVR(C=5, nu=0.25), {"c": 5, "nu": 0.25, "loss": "nu"}),
        (sklearn.svm.OneClassSVM(nu=0.2), {"nu": 0.2}),
    ],
    ids=str,
)
def test_a_model_of_scikit_learn_keeps_its_parameters(theirs, known, tmp_path):
    ours = mercer.from_sklearn(theirs.fit(X, y))
    mercer.save(ours, tmp_path / "m.mercer")
    for machine in (ours, mercer.load(tmp_path / "m.mercer")):
        told = params(machine)
        assert {name: told[name] for name in known} == known


@pytest.mark.parametrize(("theirs", "bound"), [(sklearn.svm.SVR(C=0.05), 0.05), (sklearn.svm.OneClassSVM(nu=0.4), 1.0)])
def test_support_vectors_of_scikit_learn_at_their_bound_are_counted(theirs, bound):
    ours = mercer.from_sklearn(theirs.fit(X, y))
    facts = dict(json.loads(ours.model_.describe())["facts"])
    assert facts["bounded"] == np.sum(np.abs(theirs.dual_coef_) >= bound) > 0


def test_the_parameters_of_a_model_of_libsvm_are_not_known():
    text = "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 0\nlabel 1 -1\nnr_sv 1 1\nSV\n1 1:1\n-1 2:1\n"
    about = json.loads(mercer._mercer.Model.from_libsvm(text).describe())
    assert "c" not in about["params"] and "tol" not in about["params"]


def test_the_multiquadric_has_the_sign_that_machines_need():
    kernel = mercer.kernels.Multiquadric(c=2.0)
    distance = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    assert np.allclose(kernel(X), -np.sqrt(distance + 4.0))
    assert mercer.SVC(C=10, kernel=kernel).fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize("degree", [2.7, "3", True, float("nan"), -1])
def test_a_degree_is_a_whole_number(degree):
    for fit in (
        lambda: mercer.SVC(kernel="poly", degree=degree).fit(X, y),
        lambda: mercer.kernels.Poly(degree=degree),
    ):
        with pytest.raises(ValueError, match="The 'degree' parameter must be an int in the range"):
            fit()


def test_whole_numbers_of_every_type_are_taken():
    for degree in (2, 2.0, np.int8(2), np.float32(2)):
        assert mercer.kernels.Poly(degree=degree) == mercer.kernels.Poly(degree=2)
