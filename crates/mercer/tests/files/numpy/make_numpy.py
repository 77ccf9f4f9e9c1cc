"""Makes the small NumPy files that the readers' tests read: python3 make_numpy.py (needs numpy)."""
import os
import numpy as np

here = os.path.dirname(os.path.abspath(__file__))


def save(name, array):
    np.save(os.path.join(here, name), array)


table = np.array([[0.5, -1.25, 3.0], [1e-300, 2.0, -0.0]])
save("f8.npy", table)
save("f8_columns.npy", np.asfortranarray(table))
save("f4_big.npy", table.astype(">f4"))
for kind in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"]:
    save(kind + ".npy", np.array([[0, 1, 1], [1, 0, 1]], dtype=kind))
save("line.npy", np.arange(4, dtype="i4"))
images = np.arange(12, dtype="u1").reshape(2, 2, 3)
save("images.npy", images)
save("images_columns.npy", np.asfortranarray(images))
save("text.npy", np.array(["spam", "hé", "spam"]))
save("bytes.npy", np.array([b"a", b"bcd"]))
save("scalar.npy", np.array(3.0))
save("complex.npy", np.array([1j]))
np.savez(os.path.join(here, "xy.npz"), y=np.array([1, 0]), X=table)
np.savez_compressed(os.path.join(here, "train_test.npz"), x_train=images, y_train=np.array([7, 9]),
                    x_test=images[:1], y_test=np.array([8]))
np.savez_compressed(os.path.join(here, "other.npz"), names=np.array(["p", "q"]), scale=np.array([1.0, 2.0, 3.0]),
                    measurements=table.astype("f4"))
