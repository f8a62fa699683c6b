"""What tests of kernels written in Python share."""

import numpy as np
import pytest

import deep_accel.tile as T


@pytest.fixture(params=["compiled", "interpreted"])
def run(request):
    """Calls a kernel by either way."""

    def call(function, *arguments):
        kernel = T.compile(function)
        return kernel(*arguments) if request.param == "compiled" else kernel.interpret(*arguments)

    return call


def numbers(*shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)
