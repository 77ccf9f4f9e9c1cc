"""What mypy must find: an error for each line that says so."""

from mercer import SVC, KernelPCA, LinearSVC

SVC(C="one")  # wrong
SVC(kernal="rbf")  # wrong
SVC(gamma="wide")  # wrong
SVC().predicts([[1.0]])  # wrong
LinearSVC(loss="log")  # wrong
KernelPCA(2).save()  # wrong
size: str = SVC().model_.columns  # wrong
