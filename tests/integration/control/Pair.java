// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;

/**
 * Two threads that live as long as the program. For each line both allocate, and each is blocked once by the main
 * thread.
 */
public class Pair {
    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    static final Object LOCK = new Object();
    static volatile Object kept;

    static class One extends Thread {
        private int todo;

        One(String name) {
            super(name);
            setDaemon(true);
        }

        @Override
        public void run() {
            try {
                while (true) {
                    synchronized (this) {
                        while (todo == 0) {
                            wait();
                        }
                    }
                    for (int i = 0; i < 4000; i++) {
                        kept = new byte[16000];
                    }
                    synchronized (LOCK) {
                        kept = null;
                    }
                    synchronized (this) {
                        todo = 0;
                        notifyAll();
                    }
                }
            } catch (InterruptedException e) {
                return;
            }
        }

        synchronized void give() {
            todo = 1;
            notifyAll();
        }

        synchronized void await() throws InterruptedException {
            while (todo != 0) {
                wait();
            }
        }
    }

    static boolean isBlocked(Thread t) {
        ThreadInfo info = THREADS.getThreadInfo(t.getId());
        LockInfo lock = info.getLockInfo();
        return info.getThreadState() == Thread.State.BLOCKED && lock != null
                && lock.getIdentityHashCode() == System.identityHashCode(LOCK);
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        One[] both = {new One("pair-0"), new One("pair-1")};
        for (One o : both) {
            o.start();
        }
        System.out.println("ready");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.startsWith("exit")) {
                System.exit(0);
            }
            synchronized (LOCK) {
                for (One o : both) {
                    o.give();
                }
                for (One o : both) {
                    while (!isBlocked(o)) {
                        Thread.sleep(1);
                    }
                }
            }
            for (One o : both) {
                o.await();
            }
            System.out.println("done " + line);
        }
    }
}
