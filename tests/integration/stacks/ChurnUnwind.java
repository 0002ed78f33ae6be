// SPDX-License-Identifier: Apache-2.0

/**
 * ChurnUnwind SECONDS: a recursion through eight methods in a fixed order, down to changing depths, from which an
 * exception unwinds to changing heights. Every stack must have the methods in that order without gaps.
 */
public class ChurnUnwind {
    static final class Up extends Exception {
        private static final long serialVersionUID = 1;
        final int to;

        Up(int to) {
            super(null, null, false, (to & 7) == 0); // some fill in their stack trace, most do not
            this.to = to;
        }
    }

    static volatile double sink;

    static double dive0(int at, int depth, int up) throws Up {
        return at == depth ? bottom(up) : dive1(at + 1, depth, up) + 1;
    }

    static double dive1(int at, int depth, int up) throws Up {
        try {
            return at == depth ? bottom(up) : dive2(at + 1, depth, up) + 1;
        } catch (Up e) {
            if (e.to < at) {
                throw e;
            }
            return caught(at);
        }
    }

    static double dive2(int at, int depth, int up) throws Up {
        return at == depth ? bottom(up) : dive3(at + 1, depth, up) + 1;
    }

    static double dive3(int at, int depth, int up) throws Up {
        try {
            return at == depth ? bottom(up) : dive4(at + 1, depth, up) + 1;
        } finally {
            sink = at;
        }
    }

    static double dive4(int at, int depth, int up) throws Up {
        return at == depth ? bottom(up) : dive5(at + 1, depth, up) + 1;
    }

    static synchronized double dive5(int at, int depth, int up) throws Up {
        return at == depth ? bottom(up) : dive6(at + 1, depth, up) + 1;
    }

    static double dive6(int at, int depth, int up) throws Up {
        return at == depth ? bottom(up) : dive7(at + 1, depth, up) + 1;
    }

    static double dive7(int at, int depth, int up) throws Up {
        return at == depth ? bottom(up) : dive0(at + 1, depth, up) + 1;
    }

    static double spin(int rounds) {
        double x = sink;
        for (int i = 0; i < rounds; i++) {
            x = x * 0.999 + i;
        }
        sink = x;
        return x;
    }

    static double bottom(int up) throws Up {
        spin(2000);
        throw new Up(up);
    }

    static double caught(int at) {
        return spin(500) + at;
    }

    public static void main(String[] args) throws Exception {
        long endNs = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        Thread t = new Thread(null, () -> {
            for (int n = 0; System.nanoTime() < endNs; n++) {
                try {
                    dive0(0, n * 7 % 400 + 1, n * 31 % 400 - 1);
                } catch (Up e) {
                    sink = e.to;
                }
            }
        }, "diver", 64 << 20);
        t.start();
        t.join();
    }
}
