// SPDX-License-Identifier: Apache-2.0
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntBinaryOperator;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * Makes every kind of frame that a JVM has, for some seconds: args SECONDS LIBRARY. Two threads do all tasks in turn
 * until the time is over, and each task checks its own result. For JDK 8 and later; with virtual threads if the JDK has
 * them.
 */
public class Mix {
    interface Task {
        void run(Random random) throws Throwable;
    }

    /** Method handles and reflection call this. */
    public interface Shape {
        double area();
    }

    static final int DEPTH = 400;
    static final Object MONITOR = new Object();
    static final ReentrantLock LOCK = new ReentrantLock();
    static volatile Object sink;
    static long guarded;
    static long locked;

    static native long spin(int rounds);

    /** Calls back(depth - 1) until depth is 0: Java and native code alternate. */
    static native int up(int depth);

    static native long sum(int[] array);

    static int back(int depth) {
        if (depth <= 0)
            return (int) (spin(200) & 1);
        return up(depth - 1) + 1;
    }

    static void check(boolean right, String what) {
        if (!right)
            throw new IllegalStateException("wrong result: " + what);
    }

    // ---- compiled code, loops, intrinsics ----

    static void matrix(Random random) {
        int n = 40;
        double[][] a = new double[n][n], b = new double[n][n], c = new double[n][n];
        for (int i = 0; i < n; i++) {
            a[i][i] = 2;
            for (int j = 0; j < n; j++)
                b[i][j] = random.nextInt(100);
        }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < n; k++)
                    c[i][j] += a[i][k] * b[k][j];
        check(c[3][5] == 2 * b[3][5], "matrix");
    }

    static void intrinsics(Random random) throws Exception {
        byte[] data = new byte[20000];
        random.nextBytes(data);
        byte[] copy = Arrays.copyOf(data, data.length);
        System.arraycopy(data, 0, copy, 1, data.length - 1);
        System.arraycopy(copy, 1, copy, 0, data.length - 1);
        copy[data.length - 1] = data[data.length - 1];
        check(Arrays.equals(data, copy), "arraycopy");
        MessageDigest sha = MessageDigest.getInstance("SHA-256");
        check(Arrays.equals(sha.digest(data), sha.digest(copy)), "digest");
        CRC32 crc = new CRC32();
        crc.update(data);
        sink = new java.math.BigInteger(512, random).modPow(new java.math.BigInteger(64, random), new java.math.BigInteger("1000003"));
        sink = new String(data, "ISO-8859-1").indexOf("braid") + Math.sin(random.nextDouble()) + crc.getValue();
    }

    static void strings(Random random) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 300; i++)
            text.append("key").append(random.nextInt(50)).append('=').append(i).append(';');
        Map<String, Integer> seen = new HashMap<>();
        for (String s : Pattern.compile(";").split(text)) {
            int at = s.indexOf('=');
            seen.merge(s.substring(0, at), 1, Integer::sum);
        }
        int total = 0;
        for (int n : new TreeMap<>(seen).values())
            total += n;
        check(total == 300, "strings");
    }

    // ---- calls: virtual, interface, lambdas, method handles, reflection ----

    static class Square implements Shape {
        double side = 2;

        @Override
        public double area() {
            return side * side;
        }
    }

    static class Cube extends Square {
        @Override
        public double area() {
            return 6 * super.area();
        }
    }

    static class Circle implements Shape {
        @Override
        public double area() {
            return 3;
        }
    }

    static void calls(Random random) {
        Shape[] shapes = {new Square(), new Cube(), new Circle(), () -> 1.0, new Shape() {
            @Override
            public double area() {
                return 5;
            }
        }};
        double total = 0;
        for (int i = 0; i < 5000; i++)
            total += shapes[i % shapes.length].area();
        check(total == 1000 * (4 + 24 + 3 + 1 + 5), "calls");
    }

    static int twice(int x) {
        return 2 * x;
    }

    static final MethodHandle TWICE = handle("twice", MethodType.methodType(int.class, int.class));

    static MethodHandle handle(String name, MethodType type) {
        try {
            return MethodHandles.lookup().findStatic(Mix.class, name, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    static void handles(Random random) throws Throwable {
        MethodHandle bound = MethodHandles.filterReturnValue(TWICE, MethodHandles.insertArguments(TWICE, 0).asType(
                MethodType.methodType(int.class, int.class)));
        MethodHandle other = handle("twice", MethodType.methodType(int.class, int.class));
        Method reflected = Mix.class.getDeclaredMethod("twice", int.class);
        IntBinaryOperator plus = (a, b) -> a + b;
        int x = 0;
        for (int i = 0; i < 300; i++) {
            x = plus.applyAsInt(x, (int) TWICE.invokeExact(1));
            x = plus.applyAsInt(x, (int) bound.invoke(1) + (int) other.invokeWithArguments(1));
            x += (Integer) reflected.invoke(null, 1);
        }
        check(x == 300 * 10, "handles");
    }

    static void streams(Random random) {
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < 500; i++)
            numbers.add(random.nextInt(1000));
        int most = numbers.stream().filter(n -> n % 2 == 0).map(n -> n + 1).sorted(Comparator.reverseOrder()).findFirst().orElse(1);
        numbers.sort(Comparator.comparing(n -> -n));
        check(most % 2 == 1 && numbers.get(0) >= most - 1, "streams");
    }

    // ---- exceptions and recursion ----

    static int thrower(int depth) {
        if (depth == 0)
            throw new IllegalArgumentException("thrown on purpose");
        try {
            return thrower(depth - 1);
        } finally {
            guarded++;
        }
    }

    static void exceptions(Random random) {
        int caught = 0;
        for (int i = 0; i < 20; i++) {
            try {
                thrower(30);
            } catch (IllegalArgumentException e) {
                caught += e.getStackTrace().length > 30 ? 1 : 0;
            }
            try {
                sink = ((Object[]) (i % 2 == 0 ? null : new Object[1]))[i % 2 + 3];
            } catch (NullPointerException | ArrayIndexOutOfBoundsException e) {
                caught++;
            }
        }
        check(caught == 40, "exceptions");
    }

    static int deep(int depth, Random random) {
        if (depth == 0)
            return (int) (spin(500) & 1) + new int[random.nextInt(3) + 1].length;
        return deep(depth - 1, random) + (depth & 1);
    }

    static void recursion(Random random) {
        for (int i = 0; i < 20; i++)
            check(deep(DEPTH, random) >= DEPTH / 2, "recursion");
    }

    // ---- native code ----

    static void zip(Random random) throws Exception {
        byte[] data = new byte[30000], packed = new byte[40000], again = new byte[30000];
        for (int i = 0; i < data.length; i++)
            data[i] = (byte) (random.nextInt(8) + i / 500);
        Deflater deflater = new Deflater(6);
        deflater.setInput(data);
        deflater.finish();
        int length = deflater.deflate(packed);
        deflater.end();
        Inflater inflater = new Inflater();
        inflater.setInput(packed, 0, length);
        check(inflater.inflate(again) == data.length && Arrays.equals(data, again), "zip");
        inflater.end();
    }

    static void jni(Random random) {
        int[] array = new int[10000];
        Arrays.fill(array, 3);
        for (int i = 0; i < 30; i++) {
            check(back(12) >= 12, "jni");
            check(sum(array) == 30000, "jni array");
        }
        sink = spin(20000);
    }

    static void system(Random random) throws Exception {
        check(new java.io.File("/proc/self").exists(), "file");
        try (java.io.FileInputStream in = new java.io.FileInputStream("/proc/self/status")) {
            byte[] buffer = new byte[256];
            check(in.read(buffer) == buffer.length, "read");
        }
        sink = System.nanoTime() + System.identityHashCode(new Object()) + Thread.currentThread().getName();
    }

    // ---- memory, threads, locks ----

    static class Node {
        Node next;
        byte[] load = new byte[100];
    }

    static void allocation(Random random) {
        Node head = null;
        for (int i = 0; i < 5000; i++) {
            Node n = new Node();
            n.next = i % 100 == 0 ? null : head;
            head = n;
        }
        sink = head;
        Object[] arrays = new Object[50];
        for (int i = 0; i < 500; i++)
            arrays[random.nextInt(arrays.length)] = new long[random.nextInt(2000)];
        sink = arrays;
    }

    static void locks(Random random) throws Exception {
        for (int i = 0; i < 2000; i++) {
            synchronized (MONITOR) {
                guarded += i;
            }
            LOCK.lock();
            try {
                locked++;
            } finally {
                LOCK.unlock();
            }
        }
        synchronized (MONITOR) {
            MONITOR.notifyAll();
            MONITOR.wait(1);
        }
        sink = new StringBuffer("synchronized").append(random.nextInt()).reverse().toString();
    }

    static void threads(Random random) throws Exception {
        AtomicReference<Double> result = new AtomicReference<>();
        Thread thread = new Thread(() -> result.set(new Cube().area()), "short-lived");
        thread.start();
        thread.join();
        check(result.get() == 24, "threads");
    }

    // ---- classes that come and go, and code that was compiled without them ----

    static class Loader extends ClassLoader {
        Loader() {
            super(Mix.class.getClassLoader());
        }

        Class<?> define(String name, byte[] bytes) {
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    static final byte[] PLAIN = bytesOf("Plain");

    static byte[] bytesOf(String name) {
        try (java.io.InputStream in = Mix.class.getResourceAsStream(name + ".class")) {
            byte[] buffer = new byte[16384];
            int length = 0;
            for (int n; (n = in.read(buffer, length, buffer.length - length)) > 0;)
                length += n;
            return Arrays.copyOf(buffer, length);
        } catch (java.io.IOException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    static void loaders(Random random) throws Exception {
        byte[] bytes = PLAIN;
        Class<?> c = new Loader().define("Plain", bytes);
        Constructor<?> make = c.getDeclaredConstructor();
        @SuppressWarnings("unchecked") Supplier<Integer> plain = (Supplier<Integer>) make.newInstance();
        int total = 0;
        for (int i = 0; i < 300; i++)
            total += plain.get();
        check(total == 300 * 45 && c != Plain.class, "loaders");
    }

    // ---- virtual threads, by reflection: this compiles with JDK 8 ----

    static final Method START_VIRTUAL = startVirtual();

    static Method startVirtual() {
        try {
            Method m = Thread.class.getMethod("startVirtualThread", Runnable.class);
            m.invoke(null, (Runnable) () -> sink = 1); // JDK 19 and 20 have them as a preview and refuse
            return m;
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }

    static void virtualThreads(Random random) throws Exception {
        int n = 20;
        CountDownLatch done = new CountDownLatch(n);
        for (int i = 0; i < n; i++)
            START_VIRTUAL.invoke(null, (Runnable) () -> {
                try {
                    for (int k = 0; k < 5; k++) {
                        calls(random);
                        Thread.yield();
                        deep(50, random);
                        Thread.sleep(0, 1000);
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                done.countDown();
            });
        done.await();
    }

    static Throwable failure;

    static void work(List<Task> tasks, long end, int first) {
        Random random = new Random(first);
        try {
            for (int i = first; System.nanoTime() < end; i++)
                tasks.get(i % tasks.size()).run(random);
        } catch (Throwable e) {
            failure = e;
        }
    }

    public static void main(String[] args) throws Exception {
        System.load(args[1]);
        List<Task> tasks = new ArrayList<>(Arrays.asList(Mix::matrix, Mix::intrinsics, Mix::strings, Mix::calls, Mix::handles,
                Mix::streams, Mix::exceptions, Mix::recursion, Mix::zip, Mix::jni, Mix::system, Mix::allocation, Mix::locks,
                Mix::threads, Mix::loaders));
        if (START_VIRTUAL != null)
            tasks.add(Mix::virtualThreads);
        long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        Thread other = new Thread(() -> work(tasks, end, tasks.size() / 2), "other");
        other.start();
        work(tasks, end, 0);
        other.join();
        if (failure != null) {
            failure.printStackTrace();
            System.exit(1);
        }
        System.out.println("mixed " + tasks.size() + " kinds");
    }
}
