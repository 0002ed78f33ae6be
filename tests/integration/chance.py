# SPDX-License-Identifier: Apache-2.0
"""Bounds on shares that follow from the number of samples; query.py, events.py and others use them.

Each holds for a correct program, except in one run in a million (RARE), whatever the number of samples. Its comment
has the faults that it still detects. It is false when the samples are too few to refuse anything.
"""
import math

RARE = 1e-6


def tail(found, n, p):
    """The probability of `found` or fewer of n, each with the probability p."""
    if found >= n:
        return 1.0
    if found < 0 or p >= 1:
        return 0.0
    if p <= 0:
        return 1.0
    log_p, log_q, log_n = math.log(p), math.log1p(-p), math.lgamma(n + 1)
    total = 0.0
    for k in range(int(found), -1, -1):
        term = math.exp(log_n - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * log_p + (n - k) * log_q)
        total += term
        if k < n * p and term < total * 1e-12:  # those below are smaller still
            break
    return min(total, 1.0)


def at_least(part, whole, percent):
    """Can a true share of at least `percent` percent give no more than this?

    99 % refuses 4 missing of 30 (87 %), 11 of 200 (94 %), 31 of 1,000 (97 %) and 27 of 1,000 when it is 99.5 %;
    60 % refuses 120 of 300. A minimum of samples is needed: 3 that are all missing for 99 %, 16 for 60 %.
    """
    p = percent / 100
    return 0 <= part <= whole and tail(0, whole, p) < RARE <= tail(part, whole, p)


def at_most(part, whole, percent):
    """The counterpart of at_least: can a true share of at most `percent` percent give this many?"""
    return at_least(whole - part, whole, 100 - percent)


def about(part, whole, percent, points=0):
    """Can the true share be within `points` percentage points of this one?

    With 12,000 samples, 50 % refuses 47.7 and 52.3, 20 % refuses 18.2 and 21.8; with 1,000 42.3 and 57.7.
    """
    return at_least(part, whole, percent - points) and at_most(part, whole, percent + points)
