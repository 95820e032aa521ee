# Copyright 2026 The ergocl developers. SPDX-License-Identifier: MIT
from spack.package import *


class Ergocl(MakefilePackage):
    """Monte Carlo on any OpenCL device, the same bits on each of them."""

    # Not tried here. `spack develop --path REPOSITORY ergocl@=main`, or a release's tarball in a mirror
    url = "file:///tmp/ergocl-0.1.0.tar.gz"

    license("MIT")

    version("main", branch="main")

    variant("mpi", default=True, description="points and lattices over the ranks of mpirun")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("opencl-c-headers", type="build")
    depends_on("random123", type="build")
    depends_on("ocl-icd+headers")
    depends_on("cjson")
    depends_on("libsodium")
    depends_on("libpng")
    depends_on("zlib-api")
    depends_on("hdf5~mpi")
    depends_on("mpi", when="+mpi")

    def edit(self, spec, prefix):
        pass

    @property
    def common(self):
        return [f"PREFIX={self.prefix}", "MPI=" + ("mpicc" if "+mpi" in self.spec else "none")]

    def build(self, spec, prefix):
        make("all", *self.common)

    def install(self, spec, prefix):
        make("install", *self.common)
