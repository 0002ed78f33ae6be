// SPDX-License-Identifier: Apache-2.0
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Three branches that get 50, 30 and 20 parts of the CPU time, and print by the thread's own clock what each really
 * took.
 */
public class Share {
    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    static volatile double sink;

    static long now() {
        return THREADS.getCurrentThreadCpuTime();
    }

    static void spin(int rounds) {
        double x = sink;
        for (int i = 0; i < rounds; i++) {
            x = x * 0.999 + i;
        }
        sink = x;
    }

    static void half(long end) {
        do {
            spin(20000);
        } while (now() < end);
    }

    static void third(long end) {
        do {
            spin(30000);
        } while (now() < end);
    }

    static void fifth(long end) {
        do {
            spin(40000);
        } while (now() < end);
    }

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[0]);
        long[] took = new long[3];
        for (int i = 0; i < rounds; i++) {
            long t0 = now();
            half(t0 + 15_000_000);
            long t1 = now();
            third(t1 + 9_000_000);
            long t2 = now();
            fifth(t2 + 6_000_000);
            long t3 = now();
            took[0] += t1 - t0;
            took[1] += t2 - t1;
            took[2] += t3 - t2;
        }
        double all = took[0] + took[1] + took[2];
        System.out.println(took[0] / all + " " + took[1] / all + " " + took[2] / all);
    }
}
