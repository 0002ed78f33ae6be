// SPDX-License-Identifier: Apache-2.0
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * One planted fault for each argument, strong enough for any machine: `Faults lock exceptions` has two. `healthy` has
 * none. Prints "ready" once all of them are there, and goes on until it is killed.
 */
public final class Faults {
    private static final Map<String, Fault> FAULTS = new LinkedHashMap<>();
    private static final Object LOCK = new Object();
    private static final int NODES = 15_000_000;
    /** Public, for copies of Template by other loaders. */
    public static volatile long sink;
    static volatile boolean done;

    private interface Fault {
        void plant() throws Exception;
    }

    private interface Body {
        void run() throws Exception;
    }

    private Faults() {
    }

    private static void start(int threads, String name, Body body) {
        for (int i = 1; i <= threads; i++) {
            Thread t = new Thread(() -> {
                try {
                    body.run();
                } catch (Exception e) {
                    e.printStackTrace();
                    System.exit(1);
                }
            }, name + "-" + i);

            t.setDaemon(false);
            t.start();
        }
    }

    private static long compute(long rounds) {
        long x = sink;

        for (long i = 0; i < rounds; i++)
            x = x * 31 + i;
        sink = x;
        return x;
    }

    // ---- locks ----

    private static void lockLoop() {
        for (;;)
            underLock();
    }

    private static void underLock() {
        synchronized (LOCK) {
            compute(1_000_000);
        }
    }

    private static void deadlock() {
        Object a = new Object(), b = new Object();

        start(1, "left", () -> take(a, b));
        start(1, "right", () -> take(b, a));
    }

    private static void take(Object first, Object second) throws InterruptedException {
        synchronized (first) {
            Thread.sleep(300);
            synchronized (second) {
                compute(1);
            }
        }
    }

    // ---- memory ----

    private static void churn(int keep, int bytes) {
        byte[][] kept = new byte[keep][];
        Random r = new Random(1);

        for (;;)
            kept[r.nextInt(keep)] = new byte[bytes];
    }

    private static final class Node {
        final Node next;
        Object value;

        Node(Node next) {
            this.next = next;
        }
    }

    /** Each full collection has millions of objects to go through, one after the other. */
    private static void longPauses() {
        Node list = null;

        for (int i = 0; i < NODES; i++)
            list = new Node(list);
        Node all = list;
        start(1, "filler", () -> {
            Random r = new Random(1);
            List<byte[]> ring = new ArrayList<>();

            for (;;) {
                all.value = ring;
                ring.add(new byte[1 << 20]);
                if (ring.size() > 150)
                    ring.subList(0, 75 + r.nextInt(50)).clear();
            }
        });
    }

    private static final List<byte[]> KEPT = new ArrayList<>();

    private static void leak() throws InterruptedException {
        long max = Runtime.getRuntime().maxMemory();

        start(2, "worker", () -> churn(5_000, 1_000));
        for (int i = 0;; i++) {
            if (KEPT.size() * 10_000L < max * 6 / 10)
                KEPT.add(new byte[10_000]);
            if (i % 10 == 0)
                Thread.sleep(8);
        }
    }

    private static final class Slow {
        @Override
        @SuppressWarnings({"deprecation", "removal"})
        protected void finalize() throws InterruptedException {
            Thread.sleep(2);
        }
    }

    private static void finalizers() throws InterruptedException {
        for (;;) {
            for (int i = 0; i < 500; i++)
                sink += new Slow().hashCode() + new byte[10_000].length;
            Thread.sleep(20);
        }
    }

    // ---- the VM ----

    private static int fail(int depth) {
        if (depth == 0)
            throw new IllegalStateException("no such entry");
        return fail(depth - 1) + 1;
    }

    private static void exceptions() {
        for (;;) {
            try {
                sink += fail(10);
            } catch (IllegalStateException e) {
                sink++;
            }
        }
    }

    /** A copy of Template: a class of its own, with code of its own. */
    private static final class Copies extends ClassLoader {
        private final byte[] code;

        Copies(byte[] code) {
            super(Faults.class.getClassLoader());
            this.code = code;
        }

        Runnable make() throws ReflectiveOperationException {
            return (Runnable) defineClass("Faults$Template", code, 0, code.length).getDeclaredConstructor().newInstance();
        }
    }

    /** Compiled code relies on what has never been so, until it is. */
    public static final class Template implements Runnable {
        private static final int ODD = 10;
        private long steps;

        private long step(int by) {
            if (by == 1)
                steps += 3;
            if (by == 2)
                steps ^= 5;
            if (by == 3)
                steps -= 7;
            if (by == 4)
                steps *= 9;
            if (by == 5)
                steps += 11;
            if (by == 6)
                steps ^= 13;
            if (by == 7)
                steps -= 15;
            if (by == 8)
                steps *= 17;
            if (by == 9)
                steps += 19;
            return steps += by;
        }

        @Override
        public void run() {
            for (int odd = 1; odd < ODD; odd++) {
                for (int i = 0; i < 20_000; i++)
                    sink += step(0);
                sink += step(odd);
            }
        }
    }

    private static byte[] templateCode() throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        byte[] part = new byte[4096];

        try (InputStream in = Faults.class.getResourceAsStream("Faults$Template.class")) {
            for (int n; (n = in.read(part)) > 0;)
                all.write(part, 0, n);
        }
        return all.toByteArray();
    }

    private static final List<Runnable> COPIES = new ArrayList<>();

    private static void classes(boolean run) throws Exception {
        byte[] code = templateCode();

        for (;;) {
            Runnable copy = new Copies(code).make();

            synchronized (COPIES) {
                COPIES.add(copy);
            }
            if (run)
                copy.run();
            else
                Thread.sleep(1);
        }
    }

    /** Without a poll in the loop, the thread reaches no safepoint before its end. */
    private static void longLoop() {
        for (;;) {
            long x = sink;

            for (int i = 0; i < Integer.MAX_VALUE; i++)
                x = x * 31 + i;
            sink = x;
        }
    }

    private static void safepoints() throws InterruptedException {
        for (;;) {
            sink += Thread.getAllStackTraces().size();
            Thread.sleep(20);
        }
    }

    private static void threads() throws InterruptedException {
        for (;;) {
            Thread t = new Thread(() -> sink++, "one-of-many");

            t.start();
            t.join();
        }
    }

    // ---- waits ----

    private static void sync(Path file) throws IOException {
        ByteBuffer page = ByteBuffer.allocate(4096);

        try (FileChannel c = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            for (;;) {
                page.clear();
                c.write(page, 0);
                c.force(true);
            }
        }
    }

    private static void polling() {
        while (!done)
            LockSupport.parkNanos(500_000);
    }

    private static void yielding() {
        while (!done)
            Thread.yield();
    }

    /** Two threads wake each other, with nothing to do in between. */
    private static void pingPong() {
        Thread[] pair = new Thread[2];

        for (int i = 0; i < 2; i++) {
            int other = 1 - i;

            pair[i] = new Thread(() -> {
                while (!done) {
                    LockSupport.unpark(pair[other]);
                    LockSupport.park();
                }
            }, i == 0 ? "ping" : "pong");
        }
        pair[0].start();
        pair[1].start();
    }

    private static void healthy() throws InterruptedException {
        Random r = new Random(1);

        for (;;) {
            StringBuilder text = new StringBuilder();

            for (int i = 0; i < 2_000; i++)
                text.append(r.nextInt(100)).append(i % 3 == 0 ? '\n' : ',');
            sink += text.toString().split("\n").length + Math.round(Math.sin(text.length()));
            Thread.sleep(5);
        }
    }

    static {
        FAULTS.put("healthy", () -> start(2, "request", Faults::healthy));
        FAULTS.put("lock", () -> start(6, "request", Faults::lockLoop));
        FAULTS.put("deadlock", Faults::deadlock);
        FAULTS.put("alloc", () -> start(2, "request", () -> churn(2_000, 500)));
        FAULTS.put("long-pauses", Faults::longPauses);
        FAULTS.put("leak", () -> start(1, "cache", Faults::leak));
        FAULTS.put("finalizers", () -> start(1, "request", Faults::finalizers));
        FAULTS.put("exceptions", () -> start(1, "parser", Faults::exceptions));
        FAULTS.put("classes", () -> start(1, "scripts", () -> classes(false)));
        FAULTS.put("deopt", () -> start(2, "scripts", () -> classes(true)));
        FAULTS.put("safepoint", () -> {
            start(1, "loop", Faults::longLoop);
            start(1, "dumper", Faults::safepoints);
        });
        FAULTS.put("threads", () -> start(1, "server", Faults::threads));
        FAULTS.put("sync", () -> start(2, "journal", () -> sync(Paths.get("journal"))));
        FAULTS.put("polling", () -> start(2, "poller", Faults::polling));
        FAULTS.put("spinning", () -> start(2, "spinner", Faults::yielding));
        FAULTS.put("hot", () -> start(2, "worker", () -> {
            for (;;)
                compute(100_000_000);
        }));
        FAULTS.put("switches", Faults::pingPong);
    }

    public static void main(String[] args) throws Exception {
        for (String name : args) {
            Fault f = FAULTS.get(name);

            if (f == null)
                throw new IllegalArgumentException(name + ": there are " + FAULTS.keySet());
            f.plant();
        }
        Thread.sleep(500);
        System.out.println("ready");
        System.out.flush();
        for (;;)
            Thread.sleep(1000);
    }
}
