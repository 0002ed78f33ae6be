// SPDX-License-Identifier: Apache-2.0

/** The interface of each generation of ChurnTemplate to the program that drives it. */
public abstract class ChurnBase {
    public static volatile double sink;

    /** Burns CPU time until System.nanoTime() is endNs. */
    public abstract void work(long endNs);

    /** A part of the work, which any generation may call. */
    public abstract double part(double x);

    /** Shared by all generations; the frames below it belong to only one. */
    public static double blend(double x, int i) {
        return x * 0.999 + i;
    }
}
