// SPDX-License-Identifier: Apache-2.0
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Random;

/**
 * Spends 50, 30 and 20 percent of its CPU time in three methods, and prints its own measurement: "Shares.half 50.01".
 * Argument: seconds.
 */
public class Shares {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final double[] WANTED = {0.5, 0.3, 0.2};
    private static final String[] NAMES = {"half", "third", "fifth"};

    static long seed = 1;
    static double real = 1;
    static final int[] cells = new int[4096];

    static void half(int rounds) {
        long x = seed;
        for (int i = 0; i < rounds; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
            x ^= x >>> 29;
        }
        seed = x;
    }

    static void third(int rounds) {
        double x = real;
        for (int i = 0; i < rounds; i++) {
            x = x * 0.999 + 1.0 / (i + 1);
        }
        real = x;
    }

    static void fifth(int rounds) {
        int at = (int) seed & 4095;
        for (int i = 0; i < rounds; i++) {
            cells[at] += i;
            at = (at * 5 + cells[at] + 1) & 4095;
        }
    }

    static void burn(int which, int rounds) {
        switch (which) {
            case 0:
                half(rounds);
                break;
            case 1:
                third(rounds);
                break;
            default:
                fifth(rounds);
        }
    }

    /** The number of rounds for calls of one or two milliseconds. */
    static int[] calibrate() {
        int[] rounds = {1000, 1000, 1000};
        for (int which = 0; which < 3; which++) {
            long ns = 0;
            while (ns < 1_000_000) {
                rounds[which] += rounds[which] / 4;
                long before = THREADS.getCurrentThreadCpuTime();
                burn(which, rounds[which]);
                ns = THREADS.getCurrentThreadCpuTime() - before;
            }
        }
        return rounds;
    }

    public static void main(String[] args) {
        long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        Random random = new Random(1);
        int[] rounds = calibrate();
        for (int warm = 0; warm < 300; warm++) {
            burn(warm % 3, rounds[warm % 3] / 10);
        }
        rounds = calibrate();
        long[] ns = new long[3];
        long all = 0;
        while (System.nanoTime() < end) {
            // The method that is furthest behind its share is next; call lengths vary, so that no sampling is in step
            // with them.
            int which = 0;
            for (int i = 1; i < 3; i++) {
                if (WANTED[i] * all - ns[i] > WANTED[which] * all - ns[which]) {
                    which = i;
                }
            }
            int length = rounds[which] / 2 + random.nextInt(rounds[which]);
            long before = THREADS.getCurrentThreadCpuTime();
            burn(which, length);
            long took = THREADS.getCurrentThreadCpuTime() - before;
            ns[which] += took;
            all += took;
        }
        for (int i = 0; i < 3; i++) {
            System.out.printf("Shares.%s %.3f%n", NAMES[i], 100.0 * ns[i] / all);
        }
    }
}
