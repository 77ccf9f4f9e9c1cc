"""A classifier judged on held-out digits: confusion matrix and ROC curves.

    python evaluation.py [FOLDER]      writes evaluation.png
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from mercer import SVC
from mercer.plot import ConfusionDisplay, RocDisplay

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
# Few training rows and a kernel that is too narrow, so that there is something to see.
machine = SVC(C=1, gamma=0.004).fit(X_train[:150], y_train[:150])
print(f"test accuracy {machine.score(X_test, y_test):.3f}")
figure, axes = plt.subplots(1, 2, figsize=(11, 4.6))
ConfusionDisplay.from_estimator(machine, X_test, y_test, ax=axes[0])
RocDisplay.from_estimator(machine, X_test, y_test, ax=axes[1])
axes[1].set(xlim=(0, 0.3), ylim=(0.7, 1.005), aspect="auto")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
figure.savefig(folder / "evaluation.png", dpi=80, bbox_inches="tight")
