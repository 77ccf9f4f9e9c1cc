"""A script as a person would write it: files in, model or answers out, one process.

    cold.py sklearn|onedal train X.npy Y.npy MODEL C GAMMA
    cold.py sklearn|onedal predict X.npy Y.npy MODEL ANSWERS
"""

import pickle
import sys

import numpy as np

engine, verb, x, y, model = sys.argv[1:6]
# oneDAL works in the type it is given; LIBSVM in float64 alone.
rows = np.load(x)
if verb == "train":
    if engine == "onedal":
        from sklearnex.svm import SVC
    else:
        from sklearn.svm import SVC
    machine = SVC(C=float(sys.argv[6]), gamma=float(sys.argv[7]), cache_size=4000).fit(rows, np.load(y))
    with open(model, "wb") as f:
        pickle.dump(machine, f)
else:
    with open(model, "rb") as f:
        machine = pickle.load(f)
    np.savetxt(sys.argv[6], machine.predict(rows), fmt="%d")
