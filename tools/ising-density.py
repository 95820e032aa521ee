#!/usr/bin/env python3
"""Exact densities of states of the Ising model on periodic L x L lattices.

    tools/ising-density.py 8 32 > data/reference/ising-density.txt

Lines "L E ln_g" for E <= 0 in units of J; g(-E) = g(E) for even L. Needs mpmath (PyPI).

Z(K) of B. Kaufman, Phys. Rev. 76, 1232 (1949), is a polynomial in u = exp(-4 K) with integer coefficients g
(P. D. Beale, Phys. Rev. Lett. 76, 78 (1996)). It is evaluated on a circle, and a discrete Fourier transform gives the
coefficients. They are rounded to integers, which have to be g > 0 or g = 0, symmetric, and together 2^(L L).
"""
import sys

from mpmath import mp, mpc, mpf, cos, log, pi, sqrt


def polynomial(n, u):
    """u^(N/2) Z, E = -2 N + 4 j for the coefficient of u^j."""
    x = sqrt(u)  # exp(-2 K)
    sinh, cosh = (1 / x - x) / 2, (1 / x + x) / 2
    tanh = (1 - x) / (1 + x)  # of K

    def pairs(first):
        """Products over l = first, first + 2 ... < n, each for l and 2 n - l: of 2 cosh and 2 sinh (n gamma_l / 2)."""
        even, odd = mpc(1), mpc(1)
        for l in range(first, n, 2):
            c = cosh * cosh / sinh - cos(pi * l / n)
            e = c + sqrt(c * c - 1)  # exp(gamma)
            twice = e**n + e**-n
            even *= twice + 2
            odd *= twice - 2
        return even, odd

    a, b = pairs(1)
    c, d = pairs(2)
    low, high = (tanh / x) ** (n // 2), (1 / (x * tanh)) ** (n // 2)  # of gamma_0 and gamma_n
    c *= (low + 1 / low) * (high + 1 / high)
    d *= (low - 1 / low) * (high - 1 / high)
    return x ** (n * n) * (2 * sinh) ** (n * n // 2) * (a + b + c + d) / 2


def density(n):
    sites = n * n
    mp.prec = 3 * sites + 200
    points, radius = sites + 1, mpf(1) / 2
    root = mp.expjpi(mpf(2) / points)
    powers = [root**k for k in range(points)]
    values = [polynomial(n, radius * powers[k]) for k in range(points // 2 + 1)]
    g = []
    for j in range(sites // 2 + 1):
        total = values[0].real
        for k in range(1, points // 2 + 1):  # the others are conjugates
            total += 2 * (values[k] * powers[-j * k % points]).real
        exact = total / points / radius**j
        g.append(int(mp.nint(exact)))
        assert abs(exact - g[-1]) < mpf(2) ** -20, (n, j)
    assert all(x >= 0 for x in g) and 2 * sum(g[:-1]) + g[-1] == 2**sites, n
    return g


def main():
    print("# Ising model on periodic L x L lattices: L, E <= 0 in units of J, ln g(E). g(-E) = g(E).")
    print("# tools/ising-density.py", " ".join(sys.argv[1:]))
    for n in map(int, sys.argv[1:]):
        if n % 2 or n < 4:
            sys.exit(f"{n}: even sides of 4 and more")
        for j, g in enumerate(density(n)):
            if g:
                print(n, -2 * n * n + 4 * j, mp.nstr(log(g), 15))


if __name__ == "__main__":
    main()
