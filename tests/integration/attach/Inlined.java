// SPDX-License-Identifier: Apache-2.0

/** Three levels that the compiler inlines into one. Prints "ready" when it has, and runs until it is ended. */
public class Inlined {
    static volatile double sink;

    static double outer(double x) {
        for (int i = 0; i < 2000; i++) {
            x = middle(x, i); // line 9
        }
        return x;
    }

    static double middle(double x, int i) {
        return inner(x, i); // line 15
    }

    static double inner(double x, int i) {
        return Math.sqrt(x * 0.999 + i) / 1.001; // line 19
    }

    public static void main(String[] args) {
        for (int i = 0; i < 5000; i++) {
            sink = outer(sink);
        }
        System.out.println("ready");
        while (true) {
            sink = outer(sink);
        }
    }
}
