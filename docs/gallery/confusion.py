"""Handwritten digits with settings chosen from the data: the confusion matrix and the most confident mistakes.

    python confusion.py [FOLDER]      writes confusion.png
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from mercer import AutoClassifier
from mercer.plot import ConfusionDisplay

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
machine = AutoClassifier(random_state=0).fit(X, y)
found = machine.predict(X_test)
wrong = np.flatnonzero(found != y_test)
print(f"Test error: {100 * len(wrong) / len(y_test):.1f} % ({len(wrong)} of {len(y_test)})")

figure = plt.figure(figsize=(8, 4.2))
table = figure.add_subplot(1, 2, 1)
ConfusionDisplay.from_predictions(y_test, found, ax=table)
table.set_title("true class by predicted class", fontsize=9)
# The margin between the predicted and the true class: the larger, the more confident the mistake.
values = machine.decision_function(X_test[wrong])
own = np.arange(len(wrong))
margin = values[own, found[wrong]] - values[own, y_test[wrong]]
for place, i in enumerate(np.argsort(-margin)[:12]):
    axis = figure.add_subplot(3, 8, 5 + place % 4 + 8 * (place // 4))
    axis.imshow(X_test[wrong[i]].reshape(8, 8), cmap="gray_r")
    axis.set_title(f"{y_test[wrong[i]]} as {found[wrong[i]]}", fontsize=8)
    axis.axis("off")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
figure.savefig(folder / "confusion.png", dpi=80, bbox_inches="tight")
