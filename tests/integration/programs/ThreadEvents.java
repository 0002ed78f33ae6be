// SPDX-License-Identifier: Apache-2.0
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;

/**
 * Threads that start, burn, get other names and end, as many as the first argument; their truth is on standard output.
 */
public class ThreadEvents {
    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    static volatile double sink;

    static void burn(long cpuNs) {
        while (THREADS.getCurrentThreadCpuTime() < cpuNs) {
            double x = sink;
            for (int i = 0; i < 5000; i++) {
                x = x * 0.999 + i;
            }
            sink = x;
        }
    }

    static void quick(int count) throws InterruptedException {
        List<Thread> list = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Thread t = new Thread(() -> sink++, "quick-" + i);
            t.start();
            list.add(t);
            if (list.size() == 50) {
                for (Thread one : list) {
                    one.join();
                }
                list.clear();
            }
        }
        for (Thread one : list) {
            one.join();
        }
        System.out.println("quick " + count);
    }

    static void workers() throws InterruptedException {
        ThreadGroup squad = new ThreadGroup("squad");
        Thread[] list = new Thread[4];
        for (int i = 0; i < list.length; i++) {
            int number = i;
            list[i] = new Thread(squad, () -> {
                burn((number + 1) * 50_000_000L);
                Thread.currentThread().setName("done-" + number);
                synchronized (squad) {
                    System.out.println("cpu done-" + number + " " + THREADS.getCurrentThreadCpuTime());
                }
            }, "worker-" + i);
            list[i].setDaemon(i % 2 == 1);
            list[i].setPriority(3 + i);
            list[i].start();
        }
        for (Thread t : list) {
            t.join();
        }
    }

    public static void main(String[] args) throws Exception {
        Thread stays = new Thread(() -> {
            try {
                Thread.sleep(1_000_000);
            } catch (InterruptedException e) {
                return;
            }
        }, "stays");
        stays.setDaemon(true);
        stays.start();
        System.out.println("ready");
        if (args.length > 1) { // until it is recorded
            System.in.read();
        }
        quick(Integer.parseInt(args[0]));
        workers();
        stays.setName("was stays: longer than the kernel can say");
        System.out.println("end");
        System.out.flush();
        if (args.length > 1) {
            System.in.read();
        }
    }
}
