// SPDX-License-Identifier: Apache-2.0
/**
 * Storm ROUNDS [large|wait]: compiled code repeatedly meets cases that it was not compiled for; then a method becomes
 * large by inlining. Prints nothing. With "wait" it begins when it gets input.
 */
public class Storm {
    interface Shape {
        int area();
    }

    static final Shape[] SHAPES = {new Shape() {
        public int area() {
            return 1;
        }
    }, new Shape() {
        public int area() {
            return 2;
        }
    }, new Shape() {
        public int area() {
            return 3;
        }
    }};

    static int sink;

    /** Compiled for one class, then two: the next one causes a deoptimisation. */
    static int measure(Shape s) {
        return s.area();
    }

    /** Compiled without the branch that was never taken. */
    static int branch(int i, boolean rare) {
        if (rare) {
            return i * 31 + sink;
        }
        return i + 1;
    }

    /** Compiled without a null check. */
    static int length(String s) {
        try {
            return s.length();
        } catch (NullPointerException e) {
            return -1;
        }
    }

    static void warm(int kind, Shape s, boolean rare, String text) {
        for (int i = 0; i < 30_000; i++) {
            sink += kind == 0 ? measure(s) : kind == 1 ? branch(i, rare) : length(text);
        }
    }

    static final int[] LEAVES = new int[16];

    static int leaf(int[] a, int i) {
        return a[i & 15] * a[i >> 4 & 15];
    }

    static int branches(int[] a, int i) {
        return leaf(a, i) + leaf(a, i + 1) + leaf(a, i + 2) + leaf(a, i + 3);
    }

    static int trunk(int[] a, int i) {
        return branches(a, i) + branches(a, i + 4) + branches(a, i + 8) + branches(a, i + 12);
    }

    static int tree(int[] a, int i) {
        return trunk(a, i) + trunk(a, i + 16) + trunk(a, i + 32) + trunk(a, i + 48);
    }

    public static void main(String[] args) throws java.io.IOException {
        boolean large = args.length > 1 && args[1].equals("large");

        if (args.length > 1 && args[1].equals("wait")) {
            System.in.read();
        }
        for (int round = 0; round < Integer.parseInt(args[0]); round++) {
            warm(0, SHAPES[round % SHAPES.length], false, "");
            warm(1, SHAPES[0], round % 2 == 1, "");
            warm(2, SHAPES[0], false, round % 2 == 1 ? null : "four");
        }
        for (int i = 0; large && i < 3_000_000; i++) {
            sink += tree(LEAVES, i);
        }
    }
}
