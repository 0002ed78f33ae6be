// SPDX-License-Identifier: Apache-2.0

/** Churn makes generations of this class: in every name, 00000 becomes the generation's number. */
public class ChurnTemplate00000 extends ChurnBase {
    @Override
    public void work(long endNs) {
        outer00000(endNs);
    }

    @Override
    public double part(double x) {
        return middle00000(x);
    }

    static void outer00000(long endNs) {
        double x = sink;
        do {
            x = middle00000(x);
        } while (System.nanoTime() < endNs);
        sink = x;
    }

    static double middle00000(double x) {
        for (int i = 0; i < 400; i++) {
            x = inner00000(x, i);
        }
        return x + leaf00000(x);
    }

    static double inner00000(double x, int i) {
        return (i & 63) == 0 ? leaf00000(x) : blend(x, i);
    }

    static double leaf00000(double x) {
        double y = x;
        for (int i = 0; i < 60; i++) {
            y = blend(y, i) / 1.0001;
        }
        return y;
    }
}
