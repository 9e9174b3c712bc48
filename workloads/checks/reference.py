"""The PolyBench kernels a second time, from their mathematical definitions.

Plain Python at the MINI size, written to be read beside the definitions and
not beside the C: matrices are lists of rows, and where a kernel solves
something, the reference checks or solves it another way. Each function returns
the live-out arrays, flattened, in the order in which the C reports them.
"""

from __future__ import annotations

import functools
import math


def matrix(rows, columns, element):
    return [[element(i, j) for j in range(columns)] for i in range(rows)]


def transpose(a):
    return [list(column) for column in zip(*a)]


def product(a, b):
    columns = transpose(b)
    return [[math.fsum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def apply(a, x):
    return [math.fsum(p * q for p, q in zip(row, x)) for row in a]


def combine(alpha, a, beta, b):
    return [[alpha * x + beta * y for x, y in zip(p, q)] for p, q in zip(a, b)]


def flat(a):
    return [x for row in a for x in row]


def gemm(ni=20, nj=25, nk=30):
    c = matrix(ni, nj, lambda i, j: ((i * j + 1) % ni) / ni)
    a = matrix(ni, nk, lambda i, j: (i * (j + 1) % nk) / nk)
    b = matrix(nk, nj, lambda i, j: (i * (j + 2) % nj) / nj)
    return [flat(combine(1.5, product(a, b), 1.2, c))]


def gemver(n=40):
    steps = [(i + 1) / n for i in range(n)]
    u1, u2 = list(range(n)), [s / 2 for s in steps]
    v1, v2 = [s / 4 for s in steps], [s / 6 for s in steps]
    y, z = [s / 8 for s in steps], [s / 9 for s in steps]
    a = matrix(n, n, lambda i, j: (i * j % n) / n + u1[i] * v1[j] + u2[i] * v2[j])
    x = [1.2 * p + q for p, q in zip(apply(transpose(a), y), z)]
    return [[1.5 * w for w in apply(a, x)]]


def gesummv(n=30):
    a = matrix(n, n, lambda i, j: ((i * j + 1) % n) / n)
    b = matrix(n, n, lambda i, j: ((i * j + 2) % n) / n)
    x = [i / n for i in range(n)]
    return [[1.5 * p + 1.2 * q for p, q in zip(apply(a, x), apply(b, x))]]


def symm(m=20, n=30):
    c = matrix(m, n, lambda i, j: ((i + j) % 100) / m)
    b = matrix(m, n, lambda i, j: ((n + i - j) % 100) / m)
    a = matrix(m, m, lambda i, j: ((i + j) % 100) / m)
    return [flat(combine(1.5, product(a, b), 1.2, c))]


def lower_part(new, old):
    return [[new[i][j] if j <= i else old[i][j] for j in range(len(old))] for i in range(len(old))]


def syr2k(m=20, n=30):
    a = matrix(n, m, lambda i, j: ((i * j + 1) % n) / n)
    b = matrix(n, m, lambda i, j: ((i * j + 2) % m) / m)
    c = matrix(n, n, lambda i, j: ((i * j + 3) % n) / m)
    both = combine(1.5, product(a, transpose(b)), 1.5, product(b, transpose(a)))
    return [flat(lower_part(combine(1.0, both, 1.2, c), c))]


def syrk(m=20, n=30):
    a = matrix(n, m, lambda i, j: ((i * j + 1) % n) / n)
    c = matrix(n, n, lambda i, j: ((i * j + 2) % m) / m)
    return [flat(lower_part(combine(1.5, product(a, transpose(a)), 1.2, c), c))]


def trmm(m=20, n=30):
    a = matrix(m, m, lambda i, j: 1.0 if i == j else ((i + j) % m) / m if j < i else 0.0)
    b = matrix(m, n, lambda i, j: ((n + (i - j)) % n) / n)
    return [[1.5 * x for x in flat(product(transpose(a), b))]]


def two_mm(ni=16, nj=18, nk=22, nl=24):
    a = matrix(ni, nk, lambda i, j: ((i * j + 1) % ni) / ni)
    b = matrix(nk, nj, lambda i, j: (i * (j + 1) % nj) / nj)
    c = matrix(nj, nl, lambda i, j: ((i * (j + 3) + 1) % nl) / nl)
    d = matrix(ni, nl, lambda i, j: (i * (j + 2) % nk) / nk)
    return [flat(combine(1.5, product(product(a, b), c), 1.2, d))]


def three_mm(ni=16, nj=18, nk=20, nl=22, nm=24):
    a = matrix(ni, nk, lambda i, j: ((i * j + 1) % ni) / (5 * ni))
    b = matrix(nk, nj, lambda i, j: ((i * (j + 1) + 2) % nj) / (5 * nj))
    c = matrix(nj, nm, lambda i, j: (i * (j + 3) % nl) / (5 * nl))
    d = matrix(nm, nl, lambda i, j: ((i * (j + 2) + 2) % nk) / (5 * nk))
    return [flat(product(product(a, b), product(c, d)))]


def atax(m=38, n=42):
    a = matrix(m, n, lambda i, j: ((i + j) % n) / (5 * m))
    x = [1 + i / n for i in range(n)]
    return [apply(transpose(a), apply(a, x))]


def bicg(m=38, n=42):
    a = matrix(n, m, lambda i, j: (i * (j + 1) % n) / n)
    return [apply(transpose(a), [i / n for i in range(n)]), apply(a, [i / m for i in range(m)])]


def doitgen(nq=8, nr=10, np=12):
    c4 = matrix(np, np, lambda i, j: (i * j % np) / np)
    rows = [[((r * q + k) % np) / np for k in range(np)] for r in range(nr) for q in range(nq)]
    return [flat(product(rows, c4))]


def mvt(n=40):
    a = matrix(n, n, lambda i, j: (i * j % n) / n)
    x1, x2, y1, y2 = ([((i + shift) % n) / n for i in range(n)] for shift in (0, 1, 3, 4))
    return [[p + q for p, q in zip(x1, apply(a, y1))], [p + q for p, q in zip(x2, apply(transpose(a), y2))]]


def centred(columns):
    return [[x - math.fsum(column) / len(column) for x in column] for column in columns]


def covariance(m=28, n=32):
    columns = centred(transpose(matrix(n, m, lambda i, j: i * j / m)))
    return [[x / (n - 1) for x in flat(product(columns, transpose(columns)))]]


def correlation(m=28, n=32):
    columns = centred(transpose(matrix(n, m, lambda i, j: (i * j) / m + i)))
    norms = [math.sqrt(math.fsum(x * x for x in column)) for column in columns]
    unit = [[x / norm for x in column] for column, norm in zip(columns, norms)]
    return [flat(product(unit, transpose(unit)))]


def semidefinite(n):
    factor = matrix(n, n, lambda i, j: 1.0 if i == j else 1 - j / n if j < i else 0.0)
    return factor, product(factor, transpose(factor))


def cholesky(n=40):
    # The matrix was made as L L^T with a positive diagonal: its factor is L.
    return [flat(semidefinite(n)[0])]


def lu(n=40):
    # For A = L L^T with a unit diagonal, the LU decomposition is L and L^T.
    factor = semidefinite(n)[0]
    return [[factor[max(i, j)][min(i, j)] for i in range(n) for j in range(n)]]


def ludcmp(n=40):
    # Solves L (L^T x) = b by substitution with the factor known in advance.
    factor = semidefinite(n)[0]
    b = [(i + 1) / n / 2 + 4 for i in range(n)]
    y = substitute(factor, b)
    backwards = [row[::-1] for row in transpose(factor)[::-1]]
    return [substitute(backwards, y[::-1])[::-1]]


def substitute(lower, b):
    x = []
    for i, row in enumerate(lower):
        x.append((b[i] - math.fsum(p * q for p, q in zip(row, x))) / row[i])
    return x


def trisolv(n=40):
    lower = matrix(n, n, lambda i, j: (i + n - j + 1) * 2 / n)
    return [substitute(lower, list(range(n)))]


def durbin(n=40):
    # Solves T y = -r for the symmetric Toeplitz matrix T of 1, r[0], r[1], ...
    r = [float(n + 1 - i) for i in range(n)]
    toeplitz = matrix(n, n, lambda i, j: ([1.0] + r)[abs(i - j)])
    return [eliminate(toeplitz, [-x for x in r])]


def eliminate(a, b):
    """Gaussian elimination with partial pivoting."""
    n = len(b)
    rows = [row[:] + [value] for row, value in zip(a, b)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k])]
    x = [0.0] * n
    for k in reversed(range(n)):
        x[k] = (rows[k][n] - math.fsum(rows[k][j] * x[j] for j in range(k + 1, n))) / rows[k][k]
    return x


def gramschmidt(m=20, n=30):
    # Classical Gram-Schmidt, repeated for accuracy, up to the first dependent column.
    a = matrix(m, n, lambda i, j: ((i * j) % m) / m * 100 + 10)
    columns, basis = transpose(a), []
    for column in columns:
        rest = column
        for _ in range(3):
            for q in basis:
                along = math.fsum(x * y for x, y in zip(q, rest))
                rest = [x - along * y for x, y in zip(rest, q)]
        norm = math.sqrt(math.fsum(x * x for x in rest))
        if norm < 1e-6:
            break
        basis.append([x / norm for x in rest])
    r = matrix(n, n, lambda k, j: 0.0)
    for k, q in enumerate(basis):
        for j in range(k, n):
            r[k][j] = math.fsum(x * y for x, y in zip(q, columns[j]))
    return [flat(r), flat(matrix(m, n, lambda i, k: basis[k][i] if k < len(basis) else 0.0))]


def floyd_warshall(n=60):
    # Bellman-Ford from every node, until nothing changes.
    def edge(i, j):
        return 999 if (i + j) % 13 == 0 or (i + j) % 7 == 0 or (i + j) % 11 == 0 else i * j % 7 + 1
    weights = matrix(n, n, edge)
    result = []
    for source in range(n):
        distance = weights[source][:]
        changed = True
        while changed:
            better = [min(distance[j], min(distance[k] + weights[k][j] for k in range(n))) for j in range(n)]
            changed, distance = better != distance, better
        result += distance
    return [result]


def nussinov(n=60):
    sequence = [(i + 1) % 4 for i in range(n)]

    @functools.lru_cache(None)
    def score(i, j):
        """The most pairs among bases i..j."""
        if i >= j:
            return 0
        bond = 1 if i < j - 1 and sequence[i] + sequence[j] == 3 else 0
        return max(score(i + 1, j - 1) + bond, max(score(i, k) + score(k + 1, j) for k in range(i, j)))

    return [[score(i, j) if i < j else 0 for i in range(n) for j in range(n)]]


def deriche(w=64, h=64):
    image = matrix(w, h, lambda i, j: ((313 * i + 991 * j) % 65536) / 65535)
    alpha = 0.25
    k = (1 - math.exp(-alpha)) ** 2 / (1 + 2 * alpha * math.exp(-alpha) - math.exp(2 * alpha))
    causal = (k, k * math.exp(-alpha) * (alpha - 1))
    anticausal = (k * math.exp(-alpha) * (alpha + 1), -k * math.exp(-2 * alpha))
    feedback = (2 ** -alpha, -math.exp(-2 * alpha))

    def one_way(line, taps, delay):
        out, x, y = [], [0.0] * 3, [0.0] * 2
        for value in line:
            x = [value, x[0], x[1]]
            new = taps[0] * x[delay] + taps[1] * x[delay + 1] + feedback[0] * y[0] + feedback[1] * y[1]
            y = [new, y[0]]
            out.append(new)
        return out

    def smooth(line):
        return [p + q for p, q in zip(one_way(line, causal, 0), one_way(line[::-1], anticausal, 1)[::-1])]

    return [flat(transpose([smooth(column) for column in transpose([smooth(row) for row in image])]))]


def adi(steps=20, n=20):
    u = matrix(n, n, lambda i, j: (i + n - j) / n)
    ratio = n * n / steps
    along, across = 2 * ratio, ratio

    def solve(coefficient, right):
        """The tridiagonal system -c/2 x[j-1] + (1 + c) x[j] - c/2 x[j+1] = right[j], x = 1 at both ends."""
        size = len(right)
        c = coefficient
        a = matrix(size, size, lambda i, j: 1 + c if i == j else -c / 2 if abs(i - j) == 1 else 0.0)
        right = right[:]
        right[0] += c / 2
        right[-1] += c / 2
        return [1.0] + eliminate(a, right) + [1.0]

    v = matrix(n, n, lambda i, j: 0.0)
    for _ in range(steps):
        for i in range(1, n - 1):
            right = [across / 2 * u[j][i - 1] + (1 - across) * u[j][i] + across / 2 * u[j][i + 1]
                     for j in range(1, n - 1)]
            for j, value in enumerate(solve(along, right)):
                v[j][i] = value
        for i in range(1, n - 1):
            right = [along / 2 * v[i - 1][j] + (1 - along) * v[i][j] + along / 2 * v[i + 1][j]
                     for j in range(1, n - 1)]
            u[i] = solve(across, right)
    return [flat(u)]


def fdtd_2d(steps=20, nx=20, ny=30):
    ex = matrix(nx, ny, lambda i, j: i * (j + 1) / nx)
    ey = matrix(nx, ny, lambda i, j: i * (j + 2) / ny)
    hz = matrix(nx, ny, lambda i, j: i * (j + 3) / nx)
    for t in range(steps):
        ey = matrix(nx, ny, lambda i, j: t if i == 0 else ey[i][j] - (hz[i][j] - hz[i - 1][j]) / 2)
        ex = matrix(nx, ny, lambda i, j: ex[i][j] if j == 0 else ex[i][j] - (hz[i][j] - hz[i][j - 1]) / 2)
        hz = matrix(nx, ny, lambda i, j: hz[i][j] if i == nx - 1 or j == ny - 1 else
                    hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]))
    return [flat(ex), flat(ey), flat(hz)]


def heat_3d(steps=20, n=10):
    inside = range(1, n - 1)
    a = {(i, j, k): (i + j + n - k) * 10 / n for i in range(n) for j in range(n) for k in range(n)}
    for _ in range(2 * steps):
        new = dict(a)
        for i in inside:
            for j in inside:
                for k in inside:
                    around = (a[i + 1, j, k] + a[i - 1, j, k] + a[i, j + 1, k] + a[i, j - 1, k] +
                              a[i, j, k + 1] + a[i, j, k - 1])
                    new[i, j, k] = a[i, j, k] / 4 + around / 8
        a = new
    return [[a[key] for key in sorted(a)]]


def jacobi_1d(steps=20, n=30):
    a, b = [(i + 2) / n for i in range(n)], [(i + 3) / n for i in range(n)]
    for _ in range(steps):
        b = [b[0]] + [0.33333 * sum(a[i - 1:i + 2]) for i in range(1, n - 1)] + [b[-1]]
        a = [a[0]] + [0.33333 * sum(b[i - 1:i + 2]) for i in range(1, n - 1)] + [a[-1]]
    return [a]


def jacobi_2d(steps=20, n=30):
    def step(new, old):
        return matrix(n, n, lambda i, j: new[i][j] if i in (0, n - 1) or j in (0, n - 1) else
                      (old[i][j] + old[i][j - 1] + old[i][j + 1] + old[i + 1][j] + old[i - 1][j]) / 5)
    a = matrix(n, n, lambda i, j: (i * (j + 2) + 2) / n)
    b = matrix(n, n, lambda i, j: (i * (j + 3) + 3) / n)
    for _ in range(steps):
        b = step(b, a)
        a = step(a, b)
    return [flat(a)]


def seidel_2d(steps=20, n=40):
    a = matrix(n, n, lambda i, j: (i * (j + 2) + 2) / n)
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i][j] = sum(sum(row[j - 1:j + 2]) for row in a[i - 1:i + 2]) / 9
    return [flat(a)]


KERNELS = {
    "2mm": two_mm, "3mm": three_mm, "floyd-warshall": floyd_warshall, "fdtd-2d": fdtd_2d, "heat-3d": heat_3d,
    "jacobi-1d": jacobi_1d, "jacobi-2d": jacobi_2d, "seidel-2d": seidel_2d,
    **{function.__name__: function for function in (
        correlation, covariance, gemm, gemver, gesummv, symm, syr2k, syrk, trmm, atax, bicg, doitgen, mvt, cholesky,
        durbin, gramschmidt, lu, ludcmp, trisolv, deriche, nussinov, adi)},
}
