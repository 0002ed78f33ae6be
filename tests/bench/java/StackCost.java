// SPDX-License-Identifier: Apache-2.0
/**
 * Makes stacks of a known depth on every CPU until it is killed: java (Java methods), or mixed (each method calls the
 * next through JNI). Arguments: java|mixed FRAMES same|changing warm|cold. Run without inlining. Its native half is
 * stackcost.c.
 */
public class StackCost {
    static {
        System.loadLibrary("stackcost");
    }

    static native void bind();

    static native void begin(boolean changing, boolean cold);

    static native void pin(int cpu);

    static native int across(int depth, long path);

    static native int leaf();

    static long next(long x) {
        x ^= x << 13;
        x ^= x >>> 7;
        return x ^ x << 17;
    }

    static int mixed(int depth, long path) {
        if (depth <= 0) {
            return leaf();
        }
        return across(depth - 1, path) + 1;
    }

    static int m0(int depth, long path) {
        if (depth <= 0) {
            return leaf() + 0;
        }
        path = next(path);
        switch ((int) path & 7) {
            case 0:
                return m0(depth - 1, path) + 0;
            case 1:
                return m1(depth - 1, path) + 1;
            case 2:
                return m2(depth - 1, path) + 2;
            case 3:
                return m3(depth - 1, path) + 3;
            case 4:
                return m4(depth - 1, path) + 4;
            case 5:
                return m5(depth - 1, path) + 5;
            case 6:
                return m6(depth - 1, path) + 6;
            default:
                return m7(depth - 1, path) + 7;
        }
    }

    static int m1(int depth, long path) {
        if (depth <= 0) {
            return leaf() + 1;
        }
        path = next(path);
        switch ((int) path & 7) {
            case 0:
                return m0(depth - 1, path) + 1;
            case 1:
                return m1(depth - 1, path) + 2;
            case 2:
                return m2(depth - 1, path) + 3;
            case 3:
                return m3(depth - 1, path) + 4;
            case 4:
                return m4(depth - 1, path) + 5;
            case 5:
                return m5(depth - 1, path) + 6;
            case 6:
                return m6(depth - 1, path) + 7;
            default:
                return m7(depth - 1, path) + 8;
        }
    }

    static int m2(int depth, long path) {
        if (depth <= 0) {
            return leaf() + 2;
        }
        path = next(path);
        switch ((int) path & 7) {
            case 0:
                return m0(depth - 1, path) + 2;
            case 1:
                return m1(depth - 1, path) + 3;
            case 2:
                return m2(depth - 1, path) + 4;
            case 3:
                return m3(depth - 1, path) + 5;
            case 4:
                return m4(depth - 1, path) + 6;
            case 5:
                return m5(depth - 1, path) + 7;
            case 6:
                return m6(depth - 1, path) + 8;
            default:
                return m7(depth - 1, path) + 9;
        }
    }

    static int m3(int depth, long path) {
        if (depth <= 0) {
            return leaf() + 3;
        }
        path = next(path);
        switch ((int) path & 7) {
            case 0:
                return m0(depth - 1, path) + 3;
            case 1:
                return m1(depth - 1, path) + 4;
            case 2:
                return m2(depth - 1, path) + 5;
            case 3:
                return m3(depth - 1, path) + 6;
            case 4:
                return m4(depth - 1, path) + 7;
            case 5:
                return m5(depth - 1, path) + 8;
            case 6:
                return m6(depth - 1, path) + 9;
            default:
                return m7(depth - 1, path) + 10;
        }
    }

    static int m4(int depth, long path) {
        if (depth <= 0) {
            return leaf() + 4;
        }
        path = next(path);
        switch ((int) path & 7) {
            case 0:
                return m0(depth - 1, path) + 4;
            case 1:
                return m1(depth - 1, path) + 5;
            case 2:
                return m2(depth - 1, path) + 6;
            case 3:
                return m3(depth - 1, path) + 7;
            case 4:
                return m4(depth - 1, path) + 8;
            case 5:
                return m5(depth - 1, path) + 9;
            case 6:
                return m6(depth - 1, path) + 10;
            default:
                return m7(depth - 1, path) + 11;
        }
    }

    static int m5(int depth, long path) {
        if (depth <= 0) {
            return leaf() + 5;
        }
        path = next(path);
        switch ((int) path & 7) {
            case 0:
                return m0(depth - 1, path) + 5;
            case 1:
                return m1(depth - 1, path) + 6;
            case 2:
                return m2(depth - 1, path) + 7;
            case 3:
                return m3(depth - 1, path) + 8;
            case 4:
                return m4(depth - 1, path) + 9;
            case 5:
                return m5(depth - 1, path) + 10;
            case 6:
                return m6(depth - 1, path) + 11;
            default:
                return m7(depth - 1, path) + 12;
        }
    }

    static int m6(int depth, long path) {
        if (depth <= 0) {
            return leaf() + 6;
        }
        path = next(path);
        switch ((int) path & 7) {
            case 0:
                return m0(depth - 1, path) + 6;
            case 1:
                return m1(depth - 1, path) + 7;
            case 2:
                return m2(depth - 1, path) + 8;
            case 3:
                return m3(depth - 1, path) + 9;
            case 4:
                return m4(depth - 1, path) + 10;
            case 5:
                return m5(depth - 1, path) + 11;
            case 6:
                return m6(depth - 1, path) + 12;
            default:
                return m7(depth - 1, path) + 13;
        }
    }

    static int m7(int depth, long path) {
        if (depth <= 0) {
            return leaf() + 7;
        }
        path = next(path);
        switch ((int) path & 7) {
            case 0:
                return m0(depth - 1, path) + 7;
            case 1:
                return m1(depth - 1, path) + 8;
            case 2:
                return m2(depth - 1, path) + 9;
            case 3:
                return m3(depth - 1, path) + 10;
            case 4:
                return m4(depth - 1, path) + 11;
            case 5:
                return m5(depth - 1, path) + 12;
            case 6:
                return m6(depth - 1, path) + 13;
            default:
                return m7(depth - 1, path) + 14;
        }
    }

    static int run(boolean mixed, int depth, long path) {
        return mixed ? mixed(depth, path) : m0(depth, path);
    }

    public static void main(String[] args) {
        boolean mixed = args[0].equals("mixed");
        int depth = Integer.parseInt(args[1]);
        bind();
        long path = 88172645463325252L;
        int sum = 0;
        for (int i = 0; i < 20_000; i++) {
            path = next(path);
            sum += run(mixed, 10, path);
        }
        begin(args[2].equals("changing"), args[3].equals("cold"));
        for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
            int cpu = i;
            long begin = path;
            new Thread(null, () -> {
                int all = 0;
                pin(cpu);
                for (long p = begin;; p = next(p)) {
                    all += run(mixed, depth, p);
                }
            }, "runner", 512 << 20).start();
        }
        System.out.println("ready " + sum);
    }
}
