"""Services of others with scikit-learn's support vector machine inside.

    service.py fit ROWS LABELS C GAMMA FOLDER   the machine, and the settings of MLServer, into FOLDER
    service.py predict FOLDER ROWS OUT          its labels, as text
    service.py fastapi FOLDER PORT              an application on FastAPI, served by uvicorn

MLServer is started by its own command, in FOLDER/mlserver.
"""

import json
import sys
from pathlib import Path

import joblib
import numpy as np


def fit(rows, labels, c, gamma, folder):
    from sklearn.svm import SVC

    x, y = np.load(rows).astype(np.float64), np.load(labels)
    machine = SVC(C=float(c), gamma=float(gamma), cache_size=2000).fit(x, y)
    own = Path(folder) / "mlserver"
    own.mkdir(parents=True, exist_ok=True)
    joblib.dump(machine, Path(folder) / "machine.joblib")
    joblib.dump(machine, own / "machine.joblib")
    about = {
        "name": "usps",
        "implementation": "mlserver_sklearn.SKLearnModel",
        "parameters": {"uri": "./machine.joblib", "version": "1"},
    }
    (own / "model-settings.json").write_text(json.dumps(about))


def predict(folder, rows, out):
    machine = joblib.load(Path(folder) / "machine.joblib")
    labels = machine.predict(np.load(rows).astype(np.float64))
    Path(out).write_text("\n".join(str(label) for label in labels) + "\n")


def fastapi(folder, port):
    import uvicorn
    from fastapi import FastAPI
    from pydantic import BaseModel

    machine = joblib.load(Path(folder) / "machine.joblib")
    app = FastAPI()

    class Rows(BaseModel):
        rows: list[list[float]]

    # Not a plain function: those go through a pool of threads, which is slower for single rows.
    @app.post("/predict")
    async def answer(body: Rows):
        return {"labels": machine.predict(np.asarray(body.rows)).tolist()}

    @app.get("/ready")
    async def ready():
        return {}

    uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning", access_log=False)


if __name__ == "__main__":
    {"fit": fit, "predict": predict, "fastapi": fastapi}[sys.argv[1]](*sys.argv[2:])
