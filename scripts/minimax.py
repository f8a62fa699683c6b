#!/usr/bin/env python3
"""Finds the polynomials of deep_accel/compile/numerics/ (minimax, by the Remez exchange), and prints them as C++ lists.

    scripts/minimax.py            all of them
    scripts/minimax.py exp_f32    one

Every entry of `POLYNOMIALS` states the function, the interval, the basis and the weight, so that the derivation of each
coefficient in the sources can be repeated. A polynomial is fitted so that max |weight(x) * (p(x) - f(x))| is least;
the coefficients are then rounded to the format they are used in such that each makes up for the rounding of the others,
which keeps the error of the rounded polynomial close to that of the exact one. Needs mpmath.
"""

import sys

import mpmath as mp

mp.mp.dps = 50


def remez(f, powers, low, high, weight, iterations=12):
    """The combination of x**power closest to f on [low, high] in the weighted maximum norm."""
    n = len(powers)
    if n == 0:
        return [], max(abs(weight(x) * f(x)) for x in mp.linspace(low, high, 400))
    # Chebyshev extrema as the first reference, then exchange of the extrema of the error.
    points = [(low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * (n - i) / n) for i in range(n + 1)]
    grid_size = max(400, 40 * n)
    grid = [
        (low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (2 * i + 1) / (2 * grid_size)) for i in range(grid_size)
    ]
    grid = [mp.mpf(low)] + grid + [mp.mpf(high)]
    targets = [(f(x), weight(x)) for x in grid]
    coefficients, error = [], mp.inf
    for _ in range(iterations):
        matrix, right = mp.matrix(n + 1, n + 1), mp.matrix(n + 1, 1)
        for i, x in enumerate(points):
            for j, power in enumerate(powers):
                matrix[i, j] = x**power
            matrix[i, n] = (-1) ** i / weight(x)
            right[i] = f(x)
        solution = mp.lu_solve(matrix, right)
        coefficients = [solution[j] for j in range(n)]
        residual = [w * (sum(c * x**p for c, p in zip(coefficients, powers)) - y) for x, (y, w) in zip(grid, targets)]
        error = max(abs(e) for e in residual)
        # One extremum for each run of equal sign; then the n + 1 neighbouring ones that hold the largest errors.
        extrema = []
        for x, e in zip(grid, residual):
            if extrema and (extrema[-1][1] > 0) == (e > 0):
                if abs(e) > abs(extrema[-1][1]):
                    extrema[-1] = (x, e)
            else:
                extrema.append((x, e))
        while len(extrema) > n + 1:
            extrema.pop(0 if abs(extrema[0][1]) < abs(extrema[-1][1]) else -1)
        if len(extrema) < n + 1:
            break
        if error < abs(solution[n]) * mp.mpf("1.001"):
            break
        points = [x for x, _ in extrema]
    return coefficients, error


def fit(f, powers, low, high, weight, bits, pinned=()):
    """Coefficients rounded to `bits`, the first ones to the values `pinned`; and the rounded polynomial's error."""
    low, high = mp.mpf(low), mp.mpf(high)
    exact, _ = remez(f, powers, low, high, weight)
    # Nearest plane (Babai): the coefficients in units of their last place are rounded one after the other, the lowest
    # power first (it is the last column), and those not yet rounded make up for it in the least squares sense.
    n, samples = len(powers), 24 * len(powers)
    units = [mp.ldexp(1, mp.frexp(c)[1] - bits) for c in exact]
    points = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (2 * i + 1) / (2 * samples)) for i in range(samples)]
    columns = list(reversed(range(n)))
    matrix = mp.matrix(samples, n)
    for i, x in enumerate(points):
        for j, c in enumerate(columns):
            matrix[i, j] = weight(x) * x ** powers[c] * units[c]
    _, r = mp.qr(matrix, mode="skinny")
    missing, rounded = [mp.mpf(0)] * n, [mp.mpf(0)] * n
    for j in reversed(range(n)):
        c = columns[j]
        wanted = exact[c] / units[c] + sum(r[j, k] / r[j, j] * missing[k] for k in range(j + 1, n))
        rounded[c] = mp.mpf(pinned[c]) if c < len(pinned) else mp.nint(wanted) * units[c]
        missing[j] = (exact[c] - rounded[c]) / units[c]
    checked = mp.linspace(low, high, 1001)
    error = max(abs(weight(x) * (sum(c * x**p for c, p in zip(rounded, powers)) - f(x))) for x in checked)
    return rounded, error


LN2 = mp.log(2)


def one(x):
    return mp.mpf(1)


def log1p_rest(x):
    """(log(1+x) - x + x^2/2) / x^3"""
    if abs(x) < mp.mpf("1e-6"):
        return sum((-1) ** (k + 1) * x ** (k - 3) / k for k in range(3, 12))
    return (mp.log1p(x) - x + x * x / 2) / x**3


def log1p_over(x):
    """log(1+x) / x"""
    return mp.log1p(x) / x if x != 0 else mp.mpf(1)


def log2_over(x):
    return log1p_over(x) / LN2


def expm1_rest(x):
    """(exp(x) - 1 - x) / x^2"""
    if abs(x) < mp.mpf("1e-6"):
        return sum(x ** (k - 2) / mp.factorial(k) for k in range(2, 10))
    return (mp.expm1(x) - x) / x**2


def erf_rest(s):
    """erf(sqrt(s)) / sqrt(s) - 1, a function of s = x^2"""
    if s < mp.mpf("1e-20"):
        return 2 / mp.sqrt(mp.pi) * (1 - s / 3) - 1
    return mp.erf(mp.sqrt(s)) / mp.sqrt(s) - 1


def atanh_rest(w):
    """(2 atanh(s) - 2s - 2/3 s^3) / s^5, w = s^2"""
    if w < mp.mpf("1e-8"):
        return sum(2 * w ** (k - 2) / (2 * k + 1) for k in range(2, 9))
    s = mp.sqrt(w)
    return (2 * mp.atanh(s) - 2 * s - 2 * s**3 / 3) / s**5


def tanh_rest(s):
    """(tanh(x) - x) / x^3, s = x^2"""
    if s < mp.mpf("1e-12"):
        return -mp.mpf(1) / 3 + 2 * s / 15 - 17 * s * s / 315
    x = mp.sqrt(s)
    return (mp.tanh(x) - x) / x**3


def sin_rest(s):
    """(sin(x) - x) / x^3, s = x^2"""
    if s < mp.mpf("1e-8"):
        return sum((-1) ** k * s ** (k - 1) / mp.factorial(2 * k + 1) for k in range(1, 8))
    x = mp.sqrt(s)
    return (mp.sin(x) - x) / x**3


def cos_rest(s):
    """(cos(x) - 1 + x^2/2) / x^4, s = x^2"""
    if s < mp.mpf("1e-8"):
        return sum((-1) ** k * s ** (k - 2) / mp.factorial(2 * k) for k in range(2, 8))
    x = mp.sqrt(s)
    return (mp.cos(x) - 1 + s / 2) / s**2


def floored(weight):
    """A weight that vanishes at 0 would make the exchange singular there."""
    return lambda x: mp.mpf("1e-3") + abs(weight(x))


def erfc_exponent(x):
    """log2(erfc(x)), so that erf(x) = 1 - 2^that"""
    return mp.log(mp.erfc(x), 2)


# name: (function, powers, low, high, weight, bits of the coefficients)
THIRD, HALF_LN2, QUARTER_PI = mp.mpf(1) / 3, LN2 / 2, mp.pi / 4
EXPM1_WEIGHT = floored(lambda x: x * x / mp.expm1(x) if x else x)
LOG_WEIGHT = floored(lambda x: x * x / log1p_over(x))
POLYNOMIALS = {
    # relative; the first coefficients of exp(x) are 1 and 1, that of 2^x is 1, so that both are exact at 0
    "exp_f32": (mp.exp, range(0, 8), -LN2, LN2, lambda x: mp.exp(-x), 24, (1, 1)),
    "exp_half_f32": (mp.exp, range(0, 7), -HALF_LN2, HALF_LN2, lambda x: mp.exp(-x), 24, (1, 1)),
    "exp_half_f64": (mp.exp, range(0, 12), -HALF_LN2, HALF_LN2, lambda x: mp.exp(-x), 53, (1, 1)),
    "exp2_f32": (lambda x: mp.power(2, x), range(0, 8), -1, 1, lambda x: mp.power(2, -x), 24, (1,)),
    "exp2_half_f32": (lambda x: mp.power(2, x), range(0, 7), -0.5, 0.5, lambda x: mp.power(2, -x), 24, (1,)),
    "exp2_half_f64": (lambda x: mp.power(2, x), range(0, 12), -0.5, 0.5, lambda x: mp.power(2, -x), 53, (1,)),
    "exp_f64": (mp.exp, range(0, 14), -LN2, LN2, lambda x: mp.exp(-x), 53, (1, 1)),
    "exp2_f64": (lambda x: mp.power(2, x), range(0, 14), -1, 1, lambda x: mp.power(2, -x), 53, (1,)),
    # expm1(x) = x + x^2 q(x), relative to expm1(x)
    "expm1_f32": (expm1_rest, range(0, 5), -HALF_LN2, HALF_LN2, EXPM1_WEIGHT, 24),
    "expm1_f64": (expm1_rest, range(0, 10), -HALF_LN2, HALF_LN2, EXPM1_WEIGHT, 53),
    # tanh(x) = x + x^3 p(x^2), |x| <= 0.55, relative
    "tanh_f32": (tanh_rest, range(0, 5), 0, mp.mpf("0.55") ** 2, floored(lambda s: s), 24),
    "tanh_f64": (tanh_rest, range(0, 11), 0, mp.mpf("0.55") ** 2, floored(lambda s: s), 53),
    # log(1+f) = f - f^2/2 + f^3 q(f), relative to log(1+f)
    "log_f32": (log1p_rest, range(0, 8), -THIRD, THIRD, LOG_WEIGHT, 24),
    "log2_f32": (log2_over, range(0, 10), -THIRD, THIRD, lambda x: 1 / log2_over(x), 24, (mp.mpf(12102203) / 2**23,)),
    "log_f64": (log1p_rest, range(0, 18), -THIRD, THIRD, LOG_WEIGHT, 53),
    "log2_f64": (log2_over, range(0, 21), -THIRD, THIRD, lambda x: 1 / log2_over(x), 53),
    # log2(1+f) = f (c0 + c1 f + ...), relative; pow in f64 arithmetic on f32 arguments
    "pow_log2": (log2_over, range(0, 14), -THIRD, THIRD, lambda x: 1 / log2_over(x), 53),
    # atanh form for pow in f64: log(1+f) = 2s + s^3 (2/3 + s^2 p(s^2)), s = f / (2 + f)
    "pow_atanh": (atanh_rest, range(0, 9), 0, mp.mpf("0.2") ** 2, floored(lambda w: w * w), 53),
    "pow_exp2": (lambda x: mp.power(2, x), range(0, 8), -0.5, 0.5, lambda x: mp.power(2, -x), 53),
    # erf(x) = x + x p(x^2), relative, |x| <= 0.9375; and 1 - exp(-x q(x)) above, weighted with erfc / erf
    "erf_f32": (erf_rest, range(0, 6), 0, mp.mpf("0.9375") ** 2, lambda s: 1 / (1 + erf_rest(s)), 24),
    "erf_tail_f32": (erfc_exponent, range(0, 7), 0.9375, 4, lambda x: mp.erfc(x) / mp.erf(x), 24),
    "erf_power_f32": (lambda x: mp.power(2, x), range(0, 6), -0.5, 0.5, one, 24, (1,)),
    "erf_f64": (erf_rest, range(0, 14), 0, 1, lambda s: 1 / (1 + erf_rest(s)), 53),
    "erf_tail_f64": (erfc_exponent, range(0, 19), 1, 6, lambda x: mp.erfc(x) / mp.erf(x), 53),
    "erf_power_f64": (lambda x: mp.power(2, x), range(0, 12), -0.5, 0.5, one, 53, (1,)),
    # sin(x) = x + x^3 p(x^2), cos(x) = 1 - x^2/2 + x^4 q(x^2)
    "sin_f32": (sin_rest, range(0, 3), 0, QUARTER_PI**2, floored(lambda s: s), 24),
    "cos_f32": (cos_rest, range(0, 3), 0, QUARTER_PI**2, floored(lambda s: s * s), 24),
    "sin_f64": (sin_rest, range(0, 6), 0, QUARTER_PI**2, floored(lambda s: s), 53),
    "cos_f64": (cos_rest, range(0, 6), 0, QUARTER_PI**2, floored(lambda s: s * s), 53),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or POLYNOMIALS:
        f, powers, low, high, weight, bits, *pinned = POLYNOMIALS[name]
        powers = list(powers)
        coefficients, error = fit(f, powers, low, high, weight, bits, *pinned)
        print(f"{name}: powers {powers[0]}..{powers[-1]}, error 2^{mp.nstr(mp.log(error, 2), 5)}")
        digits = 9 if bits == 24 else 17
        print("    {" + ", ".join(mp.nstr(c, digits) for c in coefficients) + "}")
