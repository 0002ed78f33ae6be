// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * A program that does one kind of work all the time, on all CPUs, and counts it. Argument: the kind. It prints "ready"
 * when it is warm. Each line of standard input names the time until the next line; when that is over, the program
 * prints the name, the duration in ns, and the amount of work.
 */
public class Throughput {
    private static final int STRIDE = 16; // a cache line for each thread's count
    private static final int CPUS = Runtime.getRuntime().availableProcessors();
    private static final long WARM_NS = 3_000_000_000L;
    private static final int MOUNTS = 1000;

    private static AtomicLongArray counts;
    static volatile Object sink;
    public static volatile long number; // Template uses it, too, which other loaders define

    /** The work that a thread repeats. */
    interface Work {
        void once() throws Exception;
    }

    /** Makes a separate one for each thread. */
    interface Maker {
        Work make(int thread) throws Exception;
    }

    public static long compute(long x, int rounds) {
        for (int i = 0; i < rounds; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
            x ^= x >>> 29;
        }
        return x;
    }

    static Work cpu(int thread) {
        return () -> number = compute(number, 5000);
    }

    /** Short-lived objects of several classes, some hundred MB a second; some live longer. */
    static Work alloc(int thread) {
        Object[] kept = new Object[512];
        return new Work() {
            private int turn;

            @Override
            public void once() {
                Object o;
                number = compute(number, 100);
                switch (turn++ & 3) {
                    case 0:
                        o = new byte[100];
                        break;
                    case 1:
                        o = new long[20];
                        break;
                    case 2:
                        o = new String[10];
                        break;
                    default:
                        o = new StringBuilder(64);
                }
                if ((turn & 63) == 0) {
                    kept[turn >> 6 & 511] = o;
                }
                sink = o;
            }
        };
    }

    /** More threads than CPUs, which need one monitor for half of their time. */
    static Work lock(int thread) {
        return () -> {
            synchronized (Throughput.class) {
                number = compute(number, 2000);
            }
            sink = compute(thread, 2000);
        };
    }

    /**
     * Two threads that wake each other: even threads by monitors, odd ones by park. Thread and thread ^ 2 are a pair.
     */
    static class Pair {
        private final Thread[] threads = new Thread[2];
        private boolean second;

        synchronized void monitor(boolean me) throws InterruptedException {
            while (second != me) {
                wait();
            }
            second = !me;
            notify();
        }

        private volatile boolean parked;

        void park(boolean me) {
            threads[me ? 1 : 0] = Thread.currentThread();
            while (parked != me) {
                LockSupport.parkNanos(this, 1_000_000);
            }
            parked = !me;
            LockSupport.unpark(threads[me ? 0 : 1]);
        }
    }

    private static final Pair[] PAIRS = {new Pair(), new Pair()};

    static Work wait(int thread) {
        Pair pair = PAIRS[thread & 1];
        boolean me = (thread & 2) != 0;
        return (thread & 1) == 0 ? () -> pair.monitor(me) : () -> pair.park(me);
    }

    /** Java frames in all threads: thread 0 requests all stacks, which needs a VM operation. */
    static Work safepoint(int thread) {
        if (thread > 0) {
            return cpu(thread);
        }
        return () -> {
            sink = Thread.getAllStackTraces();
            LockSupport.parkNanos(1_000_000);
        };
    }

    static Work thread(int thread) {
        return () -> {
            Thread t = new Thread(() -> number = compute(number, 500));
            t.start();
            t.join();
        };
    }

    static Work vthread(int thread) throws ReflectiveOperationException {
        MethodHandle start = MethodHandles.lookup().findStatic(Thread.class, "startVirtualThread",
                MethodType.methodType(Thread.class, Runnable.class));
        return () -> {
            CountDownLatch done = new CountDownLatch(50);
            Runnable task = () -> {
                number = compute(number, 500);
                done.countDown();
            };
            for (int i = 0; i < 50; i++) {
                try {
                    start.invoke(task);
                } catch (Throwable e) {
                    throw new IllegalStateException(e);
                }
            }
            done.await();
        };
    }

    /** A virtual thread that unmounts from its carrier and mounts again, MOUNTS times. */
    static Work mount(int thread) throws ReflectiveOperationException {
        MethodHandle start = MethodHandles.lookup().findStatic(Thread.class, "startVirtualThread",
                MethodType.methodType(Thread.class, Runnable.class));
        return () -> {
            CountDownLatch done = new CountDownLatch(1);
            Runnable task = () -> {
                for (int i = 0; i < MOUNTS; i++) {
                    Thread.yield();
                }
                done.countDown();
            };
            try {
                start.invoke(task);
            } catch (Throwable e) {
                throw new IllegalStateException(e);
            }
            done.await();
        };
    }

    /** Loaded again and again. */
    public static class Template implements Runnable {
        @Override
        public void run() {
            number = compute(number, 100);
        }
    }

    static class Loader extends ClassLoader {
        Class<?> define(byte[] file) {
            return defineClass(null, file, 0, file.length);
        }
    }

    static byte[] template() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (InputStream in = Throughput.class.getResourceAsStream("Throughput$Template.class")) {
            byte[] part = new byte[4096];
            for (int n = in.read(part); n >= 0; n = in.read(part)) {
                bytes.write(part, 0, n);
            }
        }
        return bytes.toByteArray();
    }

    static Work classes(int calls) throws IOException {
        byte[] file = template();
        return () -> {
            Runnable one = (Runnable) new Loader().define(file).getDeclaredConstructor().newInstance();
            for (int i = 0; i < calls; i++) {
                one.run();
            }
        };
    }

    static int throwing(int depth) {
        if (depth == 0) {
            throw new IllegalStateException();
        }
        return throwing(depth - 1) + 1;
    }

    static Work exception(int thread) {
        return () -> {
            number = compute(number, 5000);
            try {
                throwing(10);
            } catch (IllegalStateException e) {
                sink = e;
            }
        };
    }

    /** A mix of all. */
    static Work mixed(int thread) throws IOException {
        Work[] often = {cpu(thread), alloc(thread), lock(thread), exception(thread)};
        Work[] seldom = {thread(thread), classes(1)};
        return new Work() {
            private int turn;

            @Override
            public void once() throws Exception {
                turn++;
                often[turn & 3].once();
                if ((turn & 1023) == 0) {
                    seldom[turn >> 10 & 1].once();
                }
            }
        };
    }

    static Maker maker(String what) {
        switch (what) {
            case "cpu":
                return Throughput::cpu;
            case "alloc":
                return Throughput::alloc;
            case "lock":
                return Throughput::lock;
            case "wait":
                return Throughput::wait;
            case "safepoint":
                return Throughput::safepoint;
            case "thread":
                return Throughput::thread;
            case "vthread":
                return Throughput::vthread;
            case "mount":
                return Throughput::mount;
            case "class":
                return t -> classes(1);
            case "jit":
                return t -> classes(3000);
            case "exception":
                return Throughput::exception;
            case "mixed":
                return Throughput::mixed;
            default:
                throw new IllegalArgumentException(what);
        }
    }

    static long done() {
        long sum = 0;
        for (int i = 0; i < counts.length(); i += STRIDE) {
            sum += counts.get(i);
        }
        return sum;
    }

    static void work(Work w, int thread) {
        long n = 0;
        try {
            while (true) {
                w.once();
                counts.lazySet(thread * STRIDE, ++n);
            }
        } catch (Throwable e) {
            e.printStackTrace();
            System.exit(1);
        }
    }

    public static void main(String[] args) throws Exception {
        boolean blocks = args[0].equals("lock") || args[0].equals("wait");
        int threads = blocks ? Math.max(4, 2 * CPUS) & ~3 : Math.max(2, CPUS);
        Maker maker = maker(args[0]);
        counts = new AtomicLongArray(threads * STRIDE);
        if (args[0].equals("wait")) {
            threads = 4;
        }
        for (int i = 0; i < threads; i++) {
            int number = i;
            Work w = maker.make(i);
            Thread t = new Thread(() -> work(w, number), "worker-" + i);
            t.setDaemon(true);
            t.start();
        }
        for (long end = System.nanoTime() + WARM_NS; System.nanoTime() < end;) {
            Thread.sleep(10);
        }
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String name = in.readLine(); name != null;) {
            long from = System.nanoTime();
            long before = done();
            String next = in.readLine();
            System.out.println(name + " " + (System.nanoTime() - from) + " " + (done() - before));
            name = next;
        }
    }
}
