"""A kernel of your own: words of a text, compared by the letters they share.

    python own_kernel.py [FOLDER]      writes own_kernel.png
"""

import sys
from collections import Counter
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC

ENGLISH = "learning with kernels means that every algorithm which uses the data through dot products alone can work there".split()
GERMAN = "das lernen mit kernen bedeutet dass jedes verfahren welches die daten nur durch skalarprodukte benutzt dort geht".split()


def pairs(words):
    """Counts of pairs of letters, with the ends of words marked, scaled to length 1."""
    counted = [Counter(f" {word} "[i : i + 2] for i in range(len(word) + 1)) for word in words]
    letters = sorted({pair for count in counted for pair in count} | set(pairs.known))
    pairs.known = letters
    rows = np.array([[count[pair] for pair in letters] for count in counted], dtype=float)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


pairs.known = []


def kernel(first, second):
    """Cosine of the counts: two lists of words in, a matrix out."""
    both = pairs([*first, *second])
    return both[: len(first)] @ both[len(first) :].T


words = np.array(ENGLISH + GERMAN, dtype=object)
labels = np.array(["English"] * len(ENGLISH) + ["German"] * len(GERMAN))
machine = SVC(kernel="precomputed", C=10).fit(kernel(words, words), labels)
fresh = ["method", "between", "verstehen", "zwischen", "the", "und"]
found = machine.predict(kernel(fresh, words))
values = machine.decision_function(kernel(fresh, words))
for word, label in zip(fresh, found, strict=True):
    print(f"{word}: {label}")
figure, axis = plt.subplots(figsize=(6, 2.6))
axis.barh(fresh, values, color=["#d55e00" if v > 0 else "#0072b2" for v in values])
axis.axvline(0, color="#333", lw=0.8)
axis.set_xlabel("decision value: English (left) or German (right)")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
figure.savefig(folder / "own_kernel.png", dpi=80, bbox_inches="tight")
