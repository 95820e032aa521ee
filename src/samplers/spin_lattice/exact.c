/* Exact Ising results. Method and symbols: see the comments at each function. */
#include "samplers/spin_lattice/exact.h"

#include <math.h>
#include <string.h>

static const long double PI = 3.14159265358979323846264338327950288L;

/* A logarithm and its first two derivatives (by t or by K, as said). */
struct jet {
    long double f, d, dd;
};

/* What depends on K = |J|/T alone. Everything is written in x = exp(-2K) and hyperbolic functions
 * of 2K that neither overflow at K -> infinity nor cancel at K -> 0. */
struct coupling {
    long double K, x;
    long double tanh2, sech2;   /* of 2K */
    long double t, t_d, t_dd;   /* sinh 2K / cosh^2 2K <= 1/2, = 1/2 at Tc, and derivatives by K */
    long double distance;       /* 1 - 2t = (tanh 2K - sech 2K)^2, exact near Tc */
    long double tanh_less_sech; /* its signed root: < 0 above Tc */
};

static struct coupling coupling_of(long double K) {
    struct coupling c = {.K = K};
    c.x = expl(-2 * K);
    c.tanh2 = tanhl(2 * K);
    c.sech2 = 2 * c.x / (1 + c.x * c.x);
    long double s = c.sech2;
    c.t = c.tanh2 * s;
    c.t_d = 2 * s * (2 * s * s - 1);
    c.t_dd = 4 * c.tanh2 * s * (1 - 6 * s * s);
    c.tanh_less_sech = c.tanh2 - s;
    c.distance = c.tanh_less_sech * c.tanh_less_sech;
    return c;
}

/*
 * The torus of n columns and m rows (Kaufman 1949; this notation: Ferdinand and Fisher 1969,
 * section II): Z = 1/2 (2 sinh 2K)^(nm/2) [ prod 2 cosh(m g_2r+1 / 2) + prod 2 sinh(m g_2r+1 / 2)
 *                              + prod 2 cosh(m g_2r / 2)   + prod 2 sinh(m g_2r / 2) ],
 *   cosh g_l = cosh 2K coth 2K - cos(pi l / n), r = 0 .. n-1; g_0 = 2K + ln tanh K changes sign at
 * Tc, and the fourth product with it.
 *
 * With a = 1 - t cos(theta), R = sqrt(a^2 - t^2), exp(g) = (a + R) / t, one factor is
 *   (2 sinh 2K)^(m/2) 2 cosh(m g/2) = [2 cosh^2 2K (a + R)]^(m/2) (1 + exp(-m g)),
 * (minus for sinh): no singularity at any K. theta = 0 is apart, see below.
 */
struct products {
    struct jet bulk;        /* sum of (m/2) ln(a + R) */
    struct jet plus, minus; /* sum of ln(1 +- exp(-m g)) */
};

/* Add the factor of one theta; derivatives by t. */
static void products_add(struct products *p, const struct coupling *c, long double m,
                         long double theta) {
    long double half = sinl(0.5L * theta), sine = sinl(theta), cosine = cosl(theta);
    long double t = c->t;
    long double versine = 2 * half * half;
    long double below = c->distance + t * versine; /* a - t, without cancellation near Tc */
    long double above = 1 + t * versine;           /* a + t */
    long double R = sqrtl(below * above);
    long double R_d = -(cosine + t * sine * sine) / R;

    /* ln(a + R): d = (R - 1) / (t R), with R^2 - 1 written out so that t -> 0 is harmless. */
    long double top = 2 * cosine + t * sine * sine, bottom = R * (1 + R);
    p->bulk.f += 0.5L * m * logl(1 - t * cosine + R);
    p->bulk.d -= 0.5L * m * top / bottom;
    p->bulk.dd -= 0.5L * m * (sine * sine * bottom - top * R_d * (1 + 2 * R)) / (bottom * bottom);

    if (t <= 0)
        return;
    /* 2 sinh^2(g/2) = cosh g - 1 = (a - t)/t; dg/dt = -1/(t R). */
    long double g = 2 * asinhl(sqrtl(0.5L * below / t));
    long double g_d = -1 / (t * R), g_dd = (R + t * R_d) / (t * t * R * R);
    long double q = expl(-m * g);
    if (q <= 0)
        return;
    struct jet *sum[2] = {&p->plus, &p->minus};
    for (int i = 0; i < 2; i++) {
        long double e = i == 0 ? q : -q;
        long double h = e / (1 + e);
        sum[i]->f += log1pl(e);
        sum[i]->d -= m * g_d * h;
        sum[i]->dd += -m * g_dd * h + m * m * g_d * g_d * h / (1 + e);
    }
}

/* ln of one product, derivatives by K. */
static struct jet product(const struct products *p, const struct jet *factors,
                          const struct coupling *c) {
    long double d = p->bulk.d + factors->d, dd = p->bulk.dd + factors->dd;
    return (struct jet){p->bulk.f + factors->f, d * c->t_d, dd * c->t_d * c->t_d + d * c->t_dd};
}

static struct jet jet_add(struct jet a, struct jet b, long double m) {
    return (struct jet){a.f + m * b.f, a.d + m * b.d, a.dd + m * b.dd};
}

bool ergo_ising_exact_torus(int64_t Lx, int64_t Ly, double T, double J,
                            struct ergo_ising_exact *out) {
    *out = (struct ergo_ising_exact){NAN, NAN};
    if (Lx < 1 || Ly < 1 || !(T > 0) || !isfinite(T) || !isfinite(J))
        return false;
    /* Both sides even: two sublattices, and flipping one turns J into -J. */
    if (J < 0 && (Lx % 2 != 0 || Ly % 2 != 0))
        return false;
    *out = (struct ergo_ising_exact){0, 0};
    struct coupling c = coupling_of(fabsl((long double)J) / (long double)T);
    if (!(c.x < 1)) /* K = 0, or too small for 1 - x: free spins to all digits */
        return true;

    /* The formula is symmetric in the sides; the sum over the shorter one is the cheaper. */
    int64_t n = Lx < Ly ? Lx : Ly;
    long double m = (long double)(Lx < Ly ? Ly : Lx);
    long double sites = (long double)n * m;
    struct products odd = {.bulk = {0, 0, 0}}, even = {.bulk = {0, 0, 0}};
    for (int64_t r = 0; r < n; r++) {
        products_add(&odd, &c, m, PI * (long double)(2 * r + 1) / (long double)n);
        if (r > 0)
            products_add(&even, &c, m, PI * (long double)(2 * r) / (long double)n);
    }

    /*
     * theta = 0: (2 sinh 2K)^(m/2) [exp(m g_0/2) +- exp(-m g_0/2)] = P^m +- Q^m with
     * P = exp(2K) - 1, Q = 1 + exp(-2K), for either sign of g_0. Divided by (sqrt 2 cosh 2K)^m like
     * the other factors: P = sqrt 2 (1 - x) / (1 + x^2), Q = sqrt 2 x (1 + x) / (1 + x^2).
     * Derivatives by K (dx/dK = -2x).
     */
    long double x = c.x, y = 1 + x * x, less = -expm1l(-2 * c.K);
    long double root = 0.5L * logl(2.0L);
    struct jet P = {root + logl(less) - logl(y), 2 * x / less + 4 * x * x / y,
                    -2 * x * (2 / (less * less) + 8 * x / (y * y))};
    struct jet Q = {root - 2 * c.K + log1pl(x) - logl(y), -2 - 2 * x / (1 + x) + 4 * x * x / y,
                    -2 * x * (-2 / ((1 + x) * (1 + x)) + 8 * x / (y * y))};

    struct jet even_plus = product(&even, &even.plus, &c);
    struct jet even_minus = product(&even, &even.minus, &c);
    struct jet terms[6] = {
        product(&odd, &odd.plus, &c), product(&odd, &odd.minus, &c), jet_add(even_plus, P, m),
        jet_add(even_plus, Q, m),     jet_add(even_minus, P, m),     jet_add(even_minus, Q, m),
    };
    /* ln of the signed sum; derivatives about those of the first term (never smaller than the
     * others by more than a factor), which are of order N and would cancel in the second. */
    long double sum = 0, first = 0, second = 0;
    for (int i = 0; i < 6; i++) {
        long double weight = expl(terms[i].f - terms[0].f);
        if (weight <= 0)
            continue;
        if (i == 5)
            weight = -weight;
        long double d = terms[i].d - terms[0].d;
        sum += weight;
        first += weight * d;
        second += weight * (terms[i].dd - terms[0].dd + d * d);
    }
    first /= sum;
    second = second / sum - first * first;

    /* ln Z = const + N ln cosh 2K + ln sum. u = -J (1/N) d ln Z/dK, c = K^2 (1/N) d^2 ln Z/dK^2. */
    long double slope = 2 * c.tanh2 + (terms[0].d + first) / sites;
    long double curvature = 4 * c.sech2 * c.sech2 + (terms[0].dd + second) / sites;
    out->energy = (double)(-fabsl((long double)J) * slope);
    out->heat_capacity = (double)fmaxl(0, c.K * c.K * curvature);
    return true;
}

bool ergo_ising_enumerate(int Lx, int Ly, double T, double J, double B,
                          struct ergo_ising_moments *out) {
    *out = (struct ergo_ising_moments){NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    enum { N_MAX = ERGO_ISING_ENUMERATE_MAX };
    if (Lx < 1 || Ly < 1 || Lx > N_MAX || Ly > N_MAX || Lx * Ly > N_MAX || !(T > 0) ||
        !isfinite(T) || !isfinite(J) || !isfinite(B))
        return false;
    int n = Lx * Ly;

    /* Density of states over (unequal bonds, up spins). A Gray code flips one spin at a time. */
    uint32_t count[2 * N_MAX + 1][N_MAX + 1];
    memset(count, 0, sizeof count);
    int neighbour[N_MAX][4] = {{0}};
    for (int i = 0; i < n; i++) {
        int x = i % Lx, y = i / Lx;
        neighbour[i][0] = y * Lx + (x + 1) % Lx;
        neighbour[i][1] = y * Lx + (x + Lx - 1) % Lx;
        neighbour[i][2] = (y + 1) % Ly * Lx + x;
        neighbour[i][3] = (y + Ly - 1) % Ly * Lx + x;
    }
    uint32_t state = 0;
    int unequal = 0, up = 0;
    for (uint32_t k = 0;; k++) {
        count[unequal][up]++;
        if (k + 1 == (uint32_t)1 << n)
            break;
        int site = 0;
        while (((k + 1) >> site & 1u) == 0)
            site++;
        uint32_t spin = state >> site & 1u;
        for (int j = 0; j < 4; j++) {
            if (neighbour[site][j] == site)
                continue; /* its own neighbour: always equal */
            unequal += (state >> neighbour[site][j] & 1u) == spin ? 1 : -1;
        }
        up += spin ? -1 : 1;
        state ^= (uint32_t)1 << site;
    }

    /* H = -J (2n - 2 unequal) - B (2 up - n). Weights relative to the lowest energy, moments about
     * it: the variance then keeps its digits at low temperature. */
    long double lowest = INFINITY;
    for (int w = 0; w <= 2 * n; w++)
        for (int u = 0; u <= n; u++)
            if (count[w][u] > 0)
                lowest =
                    fminl(lowest, -(long double)J * (2 * n - 2 * w) - (long double)B * (2 * u - n));
    long double z = 0, e1 = 0, m1 = 0, ma = 0, m2 = 0, m4 = 0;
    long double variance = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int w = 0; w <= 2 * n; w++) {
            for (int u = 0; u <= n; u++) {
                if (count[w][u] == 0)
                    continue;
                long double above =
                    -(long double)J * (2 * n - 2 * w) - (long double)B * (2 * u - n) - lowest;
                long double weight = (long double)count[w][u] * expl(-above / (long double)T);
                long double m = (long double)(2 * u - n) / n;
                if (pass == 0) {
                    z += weight;
                    e1 += weight * above;
                    m1 += weight * m;
                    ma += weight * fabsl(m);
                    m2 += weight * m * m;
                    m4 += weight * m * m * m * m;
                } else {
                    variance += weight * (above - e1) * (above - e1);
                }
            }
        }
        if (pass == 0)
            e1 /= z;
    }
    m2 /= z;
    m4 /= z;
    out->energy = (double)((lowest + e1) / n);
    out->heat_capacity = (double)(variance / z / ((long double)T * (long double)T * n));
    out->magnetization = (double)(m1 / z);
    out->abs_magnetization = (double)(ma / z);
    out->magnetization2 = (double)m2;
    out->magnetization4 = (double)m4;
    out->binder = (double)(1 - m4 / (3 * m2 * m2));
    return true;
}
