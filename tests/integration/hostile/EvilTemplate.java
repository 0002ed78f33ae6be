// SPDX-License-Identifier: Apache-2.0
import java.lang.management.ManagementFactory;

/** Evil gives this class another name. */
public class EvilTemplate implements Runnable {
    static volatile double sink;

    static void burn() {
        double x = sink;
        for (int i = 0; i < 20000; i++) {
            x = x * 0.999 + i;
        }
        sink = x;
    }

    @Override
    public void run() {
        long end = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() + 100_000_000;
        do {
            burn();
        } while (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() < end);
    }
}
