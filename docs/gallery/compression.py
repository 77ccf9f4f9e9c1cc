"""A machine of scikit-learn's, made smaller: what fewer vectors cost, and what they look like.

    python compression.py [FOLDER]      writes compression.png
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.svm import SVC

import mercer

X, y = load_digits(return_X_y=True)
X = X / 16
train, truth, new, answers = X[:1000], y[:1000], X[1000:], y[1000:]

theirs = SVC(C=10, gamma=0.05).fit(train, truth)
whole = mercer.from_sklearn(theirs)
sizes = [10, 20, 40, 80, 160]
small = [mercer.compress(whole, train, truth, vectors=size) for size in sizes]
errors = [100 * (1 - machine.score(new, answers)) for machine in small]
before = 100 * (1 - theirs.score(new, answers))
for size, error in zip(sizes, errors, strict=True):
    print(f"{size} vectors: {error:.1f} % wrong; {len(theirs.support_)} before: {before:.1f} %")

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3))
left.semilogx(sizes, errors, "o-", label="reduced set")
left.axhline(before, color="gray", ls="--", label=f"all {len(theirs.support_)} support vectors")
left.set_xticks(sizes, [str(size) for size in sizes])
left.minorticks_off()
left.set_xlabel("vectors")
left.set_ylabel("test error in %")
left.legend(frameon=False)
vectors = small[1].support_vectors_
rows = [[vectors[5 * r + c].reshape(8, 8) for c in range(5)] for r in range(4)]
right.imshow(np.block([[np.pad(image, 1) for image in row] for row in rows]), cmap="gray_r", vmin=0, vmax=1)
right.set_title("20 vectors that stand for them", fontsize=10)
right.axis("off")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
figure.savefig(folder / "compression.png", dpi=80, bbox_inches="tight")
