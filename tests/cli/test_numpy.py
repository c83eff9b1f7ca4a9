#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Arrays go from NumPy through a kernel and back."""

import sys

try:
    import numpy as np
except ImportError:
    print("SKIP: needs NumPy (Debian: python3-numpy)")
    sys.exit(77)

import cli

TYPES = {"bool": np.bool_, "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16,
         "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "f16": np.float16,
         "f32": np.float32, "f64": np.float64}


class NumPy(cli.Case):
    def copy(self, element, array, declaration=""):
        parameters = f"u32 n, const {element} *x, {element} *y"
        self.write("copy.kc", f"{declaration}kernel void copy({parameters})\n"
                              "{ u32 i = global_id(0); if (i < n) y[i] = x[i]; }\n")
        self.good("run", "copy.kc", "--global", array.size, f"n={array.size}", "x=@x.npy",
                  "y=@x.npy", "--save", "y=y.npy")
        return np.load(self.path("y.npy"))

    def test_every_type(self):
        for name, dtype in TYPES.items():
            with self.subTest(name):
                array = (np.arange(24) % 7).astype(dtype).reshape(2, 3, 4)
                np.save(self.path("x.npy"), array)
                result = self.copy(name, array)
                self.assertEqual((result.dtype, result.shape), (array.dtype, array.shape))
                self.assertEqual(result.tobytes(), array.tobytes())

    def test_versions(self):
        array = np.arange(5, dtype=np.float32)
        for version in (1, 0), (2, 0), (3, 0):
            with open(self.path("x.npy"), "wb") as file:
                np.lib.format.write_array(file, array, version=version)
            self.assertEqual(self.copy("f32", array).tolist(), array.tolist())

    def test_structured(self):
        dtype = np.dtype([("x", np.float32), ("n", np.uint8), ("v", np.int16, (2,))], align=True)
        array = np.zeros(3, dtype)
        array["x"], array["n"], array["v"] = [1.5, 2.5, 3.5], [7, 8, 9], [[1, 2], [3, 4], [5, 6]]
        np.save(self.path("x.npy"), array)
        result = self.copy("struct s", array, "struct s { f32 x; u8 n; i16 v[2]; };\n")
        for field in "xnv":
            self.assertEqual(result[field].tolist(), array[field].tolist())

    def test_orders_that_are_refused(self):
        np.save(self.path("x.npy"), np.asfortranarray(np.ones((2, 3), np.float32)))
        arguments = ["run", "saxpy.kc", "--global", "6", "n=6", "a=1", "y=zeros:f32:6"]
        self.bad(*arguments, "x=@x.npy", says="np.ascontiguousarray")
        np.save(self.path("x.npy"), np.ones(6, ">f4"))
        self.bad(*arguments, "x=@x.npy", says="little-endian")
        np.save(self.path("x.npy"), np.array([{}] * 6, object))
        self.bad(*arguments, "x=@x.npy", says="kernels do not have")
        if np.dtype(np.longdouble).itemsize > 8:
            np.save(self.path("x.npy"), np.ones(6, np.longdouble))
            self.bad(*arguments, "x=@x.npy", says=["of this size", "float64"])

    def test_random_is_what_the_manual_says(self):
        self.good("run", "saxpy.kc", "--global", "0", "n=0", "a=0", "x=random:f32:100:1",
                  "y=iota:f32:4x5", "--save", "x=x.npy", "--save", "y=y.npy")
        x = np.load(self.path("x.npy"))
        self.assertTrue(((x >= 0) & (x < 1)).all() and len(set(x.tolist())) == 100)
        self.assertTrue((np.load(self.path("y.npy")) == np.arange(20.0).reshape(4, 5)).all())


if __name__ == "__main__":
    cli.main()
