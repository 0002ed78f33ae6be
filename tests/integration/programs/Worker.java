// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;

/** Obeys commands on standard input, one a line, and answers each with a line that begins with "done". */
public class Worker {
    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    static volatile double sink;

    // The shape of every burning stack: alpha, beta, gamma, and what the JIT makes of spin.
    static void alpha(long cpuNs) {
        beta(cpuNs);
    }

    static void beta(long cpuNs) {
        gamma(cpuNs);
    }

    static void gamma(long cpuNs) {
        long end = THREADS.getCurrentThreadCpuTime() + cpuNs;
        do {
            spin(20000);
        } while (THREADS.getCurrentThreadCpuTime() < end);
    }

    static void spin(int rounds) {
        double x = sink;
        for (int i = 0; i < rounds; i++) {
            x = x * 0.999 + i;
        }
        sink = x;
    }

    /** A thread that lives as long as the program: older than an agent that is attached later. */
    static class Old extends Thread {
        private long todoNs;

        Old(String name) {
            super(name);
            setDaemon(true);
        }

        @Override
        public void run() {
            while (true) {
                long ns;
                synchronized (this) {
                    while (todoNs == 0) {
                        try {
                            wait();
                        } catch (InterruptedException e) {
                            return;
                        }
                    }
                    ns = todoNs;
                }
                alpha(ns);
                synchronized (this) {
                    todoNs = 0;
                    notifyAll();
                }
            }
        }

        synchronized void give(long ns) {
            todoNs = ns;
            notifyAll();
        }

        synchronized void await() throws InterruptedException {
            while (todoNs != 0) {
                wait();
            }
        }
    }

    static void threads(int count) throws InterruptedException {
        List<Thread> list = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Thread t = new Thread(() -> alpha(3_000_000), "young-" + i);
            t.start();
            list.add(t);
        }
        for (Thread t : list) {
            t.join();
        }
    }

    static Object garbage;

    static void gc(int count) {
        for (int i = 0; i < count; i++) {
            for (int k = 0; k < 50_000; k++) {
                garbage = new byte[64];
            }
            System.gc();
        }
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Old[] old = {new Old("old-0"), new Old("old-1")};
        for (Old o : old) {
            o.start();
            o.give(200_000_000); // compiled before the recording
        }
        for (Old o : old) {
            o.await();
        }
        System.out.println("ready " + System.getProperty("kept"));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] word = line.split(" ");
            int n = word.length == 2 ? Integer.parseInt(word[1]) : 0;
            switch (word[0]) {
                case "burn": // milliseconds of CPU time for each old thread
                    for (Old o : old) {
                        o.give(n * 1_000_000L);
                    }
                    for (Old o : old) {
                        o.await();
                    }
                    break;
                case "threads":
                    threads(n);
                    break;
                case "property": // its name and its new value
                    System.setProperty(word[1], word[2]);
                    break;
                case "gc":
                    gc(n);
                    break;
                case "started": // the JVM's own count of threads
                    line += " " + THREADS.getTotalStartedThreadCount();
                    break;
                case "exit":
                    System.exit(n);
                    break;
                default:
                    throw new IllegalArgumentException(line);
            }
            System.out.println("done " + line);
        }
    }
}
