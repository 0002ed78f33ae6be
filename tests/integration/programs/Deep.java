// SPDX-License-Identifier: Apache-2.0
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** Burns CPU time below a recursion of known depth, in a thread with a sufficient stack. */
public class Deep {
    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    static volatile double sink;

    static int dive(int depth, long cpuNs) {
        if (depth == 1) {
            burn(cpuNs);
            return 1;
        }
        return 1 + dive(depth - 1, cpuNs);
    }

    static void burn(long cpuNs) {
        long end = THREADS.getCurrentThreadCpuTime() + cpuNs;
        do {
            double x = sink;
            for (int i = 0; i < 20000; i++) {
                x = x * 0.999 + i;
            }
            sink = x;
        } while (THREADS.getCurrentThreadCpuTime() < end);
    }

    public static void main(String[] args) throws Exception {
        int depth = Integer.parseInt(args[0]);
        long cpuNs = args.length > 1 ? Integer.parseInt(args[1]) * 1_000_000L : 400_000_000;
        int rounds = args.length > 2 ? Integer.parseInt(args[2]) : 1000;
        Thread t = new Thread(null, () -> {
            for (int i = 0; i < rounds; i++) {
                dive(depth, 10_000); // until it is compiled
            }
            dive(depth, cpuNs);
        }, "diver", 256 << 20);
        t.start();
        t.join();
    }
}
