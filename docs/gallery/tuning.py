"""C and gamma by cross-validation, with scikit-learn's own search.

    python tuning.py [FOLDER]      writes tuning.png
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC

X, y = load_digits(return_X_y=True)
train, truth, new, answers = X[:800], y[:800], X[800:], y[800:]

machine = Pipeline([("scale", StandardScaler()), ("svc", SVC())])
choices = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [0.0003, 0.001, 0.003, 0.01, 0.03, 0.1]}
search = GridSearchCV(machine, choices, cv=4).fit(train, truth)
best = search.best_params_
print(f"best: C = {best['svc__C']}, gamma = {best['svc__gamma']}, {100 * (1 - search.best_score_):.1f} % wrong")
print(f"on rows set aside: {100 * (1 - search.score(new, answers)):.1f} % wrong")

table = 100 * (1 - search.cv_results_["mean_test_score"].reshape(4, 6))
figure, axis = plt.subplots(figsize=(5, 3))
picture = axis.imshow(np.log10(table), cmap="viridis_r", origin="lower", aspect="auto")
for (row, column), value in np.ndenumerate(table):
    axis.text(column, row, f"{value:.1f}", ha="center", va="center", color="w", fontsize=8)
axis.set_xticks(range(6), choices["svc__gamma"])
axis.set_yticks(range(4), choices["svc__C"])
axis.set_xlabel("gamma")
axis.set_ylabel("C")
axis.set_title("errors in %, four folds", fontsize=10)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
figure.savefig(folder / "tuning.png", dpi=80, bbox_inches="tight")
