"""Texts as counts of words: linear and kernel machines on sparse rows, and what they say of words."""

import sys

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC, LinearSVC, OneClassSVM

rng = np.random.default_rng(0)
subjects = {
    "sea": "wave salt fish boat wind sail harbour tide",
    "hill": "stone path goat snow peak valley rock climb",
    "town": "street tram shop crowd lamp market bridge noise",
}
common = "the a and of with very day night old new".split()
texts, names = [], []
for i in range(240):
    name = list(subjects)[i % 3]
    texts.append(
        " ".join([*rng.choice(subjects[name].split(), 4), *rng.choice(common, 5), *rng.choice(" ".join(subjects.values()).split(), 2)])
    )
    names.append(name)
chain = Pipeline([("tfidf", TfidfVectorizer(sublinear_tf=True)), ("line", LinearSVC(C=0.5, random_state=0))])
search = GridSearchCV(chain, {"tfidf__ngram_range": [(1, 1), (1, 2)], "line__C": [0.1, 1.0]}, cv=4).fit(texts, names)
kernels = {
    kernel: make_pipeline(CountVectorizer(), SVC(kernel=kernel, gamma="scale", C=2.0)).fit(texts[:150], names[:150])
    for kernel in ("linear", "rbf", "poly")
}
hashed = make_pipeline(HashingVectorizer(n_features=2**18), SVC(kernel="linear")).fit(texts[:150], names[:150])
wide = make_pipeline(HashingVectorizer(n_features=2**20), LinearSVC(random_state=0)).fit(texts[:150], names[:150])
odd = make_pipeline(TfidfVectorizer(), OneClassSVM(nu=0.1, gamma=0.5)).fit(texts[::3])
line = search.best_estimator_["line"]
np.savez(
    sys.argv[1],
    values=search.cv_results_["mean_test_score"],
    labels=search.predict(texts).astype(str),
    values_words=line.coef_,
    labels_words=np.array([search.best_estimator_["tfidf"].get_feature_names_out()[row.argmax()] for row in line.coef_]),
    **{f"labels_{kernel}": machine.predict(texts).astype(str) for kernel, machine in kernels.items()},
    values_linear=kernels["linear"][-1].coef_.toarray(),
    labels_hashed=hashed.predict(texts).astype(str),
    labels_wide=wide.predict(texts).astype(str),
    values_odd=odd.decision_function(texts),
)
