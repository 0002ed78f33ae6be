// SPDX-License-Identifier: Apache-2.0
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Causes every kind of event all the time, for as many seconds as the first argument. Each thread's progress is
 * watched: one that hangs for 20 seconds ends the program with status 3. At the end it prints what was done, one item a
 * line.
 */
public class Soak {
    static final long STUCK_NS = 20_000_000_000L;

    static volatile boolean running = true;
    static volatile Object sink;
    public static volatile long number;

    interface Work {
        void once(long turn) throws Exception;
    }

    static class Loader extends ClassLoader {
        Class<?> define(byte[] file) {
            return defineClass(null, file, 0, file.length);
        }
    }

    public static class Template implements Runnable {
        @Override
        public void run() {
            long x = number;
            for (int i = 0; i < 50; i++) {
                x = x * 31 + i;
            }
            number = x;
        }
    }

    static byte[] template() throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (InputStream in = Soak.class.getResourceAsStream("Soak$Template.class")) {
            byte[] part = new byte[4096];
            for (int n = in.read(part); n >= 0; n = in.read(part)) {
                bytes.write(part, 0, n);
            }
        }
        return bytes.toByteArray();
    }

    static void allocate(Object[] kept, long turn) {
        for (int i = 0; i < 100; i++) {
            Object o = (i & 1) == 0 ? new byte[200] : new String[30];
            kept[(int) (turn * 100 + i) % kept.length] = o;
            sink = o;
        }
    }

    static int spin(int rounds) {
        int x = (int) number;
        for (int i = 0; i < rounds; i++) {
            x = x * 31 + i;
        }
        return x;
    }

    static void contend() {
        synchronized (Soak.class) {
            number = spin(2000);
        }
    }

    static void waits(long turn) throws InterruptedException {
        Object monitor = Soak.class;
        synchronized (monitor) {
            monitor.wait(1);
            monitor.notifyAll();
        }
    }

    static void thrower(int depth) {
        if (depth == 0) {
            throw new IllegalStateException("soak");
        }
        thrower(depth - 1);
    }

    static void catches() {
        try {
            thrower(8);
        } catch (IllegalStateException e) {
            sink = e;
        }
    }

    static void thread(long turn) throws InterruptedException {
        Thread t = new Thread(() -> {
            number = spin(500);
            Thread.currentThread().setName("renamed-" + turn % 10);
        }, "soak-" + turn % 10);
        t.start();
        t.join();
    }

    static void loads(byte[] file) throws Exception {
        Runnable one = (Runnable) new Loader().define(file).getDeclaredConstructor().newInstance();
        for (int i = 0; i < 300; i++) {
            one.run();
        }
        LockSupport.parkNanos(200_000);
    }

    /** Runs something on a virtual thread; null where there are none. */
    static Method virtual() {
        try {
            return Thread.class.getMethod("startVirtualThread", Runnable.class);
        } catch (NoSuchMethodException e) {
            return null;
        }
    }

    public static void main(String[] args) throws Exception {
        byte[] file = template();
        Object[] kept = new Object[5000];
        Method virtual = virtual();
        String[] names = {"allocate", "allocate", "contend", "contend", "contend", "wait", "wait", "throw", "thread", "load", "collect",
            "virtual"};
        Work[] works = {t -> allocate(kept, t), t -> allocate(kept, t), t -> contend(), t -> contend(), t -> contend(), Soak::waits,
            Soak::waits, t -> catches(), Soak::thread, t -> loads(file), t -> {
                System.gc();
                Thread.sleep(300);
            }, t -> {
                if (virtual != null) {
                    ((Thread) virtual.invoke(null, (Runnable) Soak::contend)).join();
                } else {
                    Thread.sleep(1);
                }
            }};
        AtomicLongArray done = new AtomicLongArray(works.length);
        Thread[] threads = new Thread[works.length];
        for (int i = 0; i < works.length; i++) {
            int me = i;
            threads[i] = new Thread(() -> {
                try {
                    while (running) {
                        works[me].once(done.get(me));
                        done.incrementAndGet(me);
                    }
                } catch (Throwable e) {
                    e.printStackTrace();
                    System.exit(1);
                }
            }, names[i] + "-" + i);
            threads[i].start();
        }
        System.out.println("ready");
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        long[] seen = new long[works.length];
        long[] since = new long[works.length];
        while (System.nanoTime() < end) {
            Thread.sleep(500);
            for (int i = 0; i < works.length; i++) {
                if (since[i] == 0 || done.get(i) != seen[i]) {
                    seen[i] = done.get(i);
                    since[i] = System.nanoTime();
                } else if (System.nanoTime() - since[i] > STUCK_NS) {
                    System.out.println("stuck " + threads[i].getName());
                    for (StackTraceElement e : threads[i].getStackTrace()) {
                        System.out.println("  " + e);
                    }
                    System.exit(3);
                }
            }
        }
        running = false;
        for (int i = 0; i < works.length; i++) {
            threads[i].join(20_000);
            if (threads[i].isAlive()) {
                System.out.println("stuck " + threads[i].getName() + " at the end");
                System.exit(3);
            }
            System.out.println("did " + names[i] + " " + done.get(i));
        }
    }
}
