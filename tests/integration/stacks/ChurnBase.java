// SPDX-License-Identifier: Apache-2.0

/** What every generation of ChurnTemplate is to the program that drives it. */
public abstract class ChurnBase {
    public static volatile double sink;

    /** Burns CPU time until System.nanoTime() says so. */
    public abstract void work(long endNs);

    /** A part of it, to be called by whoever likes. */
    public abstract double part(double x);

    /** Common to all generations: what lies below it is of one of them only. */
    public static double blend(double x, int i) {
        return x * 0.999 + i;
    }
}
