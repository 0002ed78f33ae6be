// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.List;

/** Throws as many exceptions of each kind as it prints on standard output. */
public class ExceptionEvents {
    static class Mine extends RuntimeException {
        private static final long serialVersionUID = 1;

        Mine(boolean trace) {
            super("mine", null, false, trace);
        }
    }

    static class Flood extends RuntimeException {
        private static final long serialVersionUID = 1;

        Flood() {
            super(null, null, false, false);
        }
    }

    static volatile int sink;

    static void pitch(int i) {
        if (i >= 0) {
            throw new Mine(i % 2 == 0);
        }
    }

    static int catcher(int count) {
        int caught = 0;
        for (int i = 0; i < count; i++) {
            try {
                pitch(i);
            } catch (Mine e) {
                caught++;
            }
        }
        return caught;
    }

    static int flood(int count) {
        int caught = 0;
        for (int i = 0; i < count; i++) {
            try {
                if (i >= sink) {
                    throw new Flood();
                }
            } catch (Flood e) {
                caught++;
            }
        }
        return caught;
    }

    static int dive(int n) {
        return dive(n + 1) + 1;
    }

    static int overflows(int count) {
        int caught = 0;
        for (int i = 0; i < count; i++) {
            try {
                sink = dive(0);
            } catch (StackOverflowError e) {
                caught++;
            }
        }
        return caught;
    }

    static int outOfMemory(int count) {
        int caught = 0;
        for (int i = 0; i < count; i++) {
            List<long[]> list = new ArrayList<>();
            try {
                for (;;) {
                    list.add(new long[1 << 20]);
                }
            } catch (OutOfMemoryError e) {
                list = null;
                caught++;
            }
        }
        return caught;
    }

    static int nulls(int count) {
        int caught = 0;
        int[] none = null;
        for (int i = 0; i < count; i++) {
            try {
                sink = none[i];
            } catch (NullPointerException e) {
                caught++;
            }
        }
        return caught;
    }

    /** Thrown, and thrown again by the code compiled for `finally`. */
    static int twice(int count) {
        int caught = 0;
        for (int i = 0; i < count; i++) {
            try {
                try {
                    throw new ArithmeticException();
                } catch (ArithmeticException e) {
                    throw e;
                }
            } catch (ArithmeticException e) {
                caught += 2;
            }
        }
        return caught;
    }

    public static void main(String[] args) throws Exception {
        System.out.println("thrown ExceptionEvents$Mine " + catcher(400));
        System.out.println("thrown java.lang.NullPointerException " + nulls(30));
        System.out.println("thrown java.lang.ArithmeticException " + twice(20));
        System.out.println("thrown java.lang.StackOverflowError " + overflows(3));
        System.out.println("thrown java.lang.OutOfMemoryError " + outOfMemory(3));
        System.out.println("thrown ExceptionEvents$Flood " + flood(Integer.parseInt(args[0])));
        Thread uncaught = new Thread(() -> {
            throw new IllegalStateException("nobody");
        });
        uncaught.setUncaughtExceptionHandler((t, e) -> sink++);
        uncaught.start();
        uncaught.join();
        System.out.println("thrown java.lang.IllegalStateException 1");
    }
}
