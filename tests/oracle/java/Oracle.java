// SPDX-License-Identifier: Apache-2.0
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.Arrays;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.IntBinaryOperator;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * Nests calls of every kind in an order that a seed determines, until the agent has taken its number of stacks: Oracle
 * LIBRARY SECONDS [prey|trace|threads].... Methods stay small, so that compilers inline them into each other.
 */
public class Oracle {
    static native void look();

    static native int down(Oracle o, int depth, int seed);

    native int up(int depth);

    static native int wanted();

    static native void prey(boolean in);

    static native void prowl(int rounds);

    static native void trace(boolean on);

    static native void breakAt(Class<?> in);

    static final int KINDS = 26;
    static final Object LOCK = new Object();
    static volatile Object sink;
    static volatile int volatileSink;
    static volatile boolean done;

    interface Shape {
        int go(int depth, int seed);
    }

    final class Square implements Shape {
        public int go(int depth, int seed) {
            return next(depth, seed) + 1;
        }
    }

    final class Circle implements Shape {
        public int go(int depth, int seed) {
            return Oracle.this.next(depth, seed) + 2;
        }
    }

    class Base {
        int go(int depth, int seed) {
            return next(depth, seed);
        }
    }

    class Derived extends Base {
        @Override
        int go(int depth, int seed) {
            return super.go(depth, seed) + 1;
        }
    }

    final Shape[] shapes = {new Square(), new Circle(), (d, s) -> next(d, s) + 3};
    final Base[] bases = {new Base(), new Derived()};
    final Shape proxy = (Shape) Proxy.newProxyInstance(Oracle.class.getClassLoader(), new Class<?>[] {Shape.class},
            (p, m, a) -> next((Integer) a[0], (Integer) a[1]));
    final MethodHandle handle;
    final MethodHandle bound;
    final Method method;
    final Method constructorLike;

    Oracle() throws ReflectiveOperationException {
        handle = MethodHandles.lookup().findVirtual(Oracle.class, "byHandle",
                MethodType.methodType(int.class, int.class, int.class));
        bound = MethodHandles.insertArguments(handle.bindTo(this), 1, 12345);
        method = Oracle.class.getDeclaredMethod("byReflection", int.class, int.class);
        constructorLike = Oracle.class.getDeclaredMethod("staticByReflection", Oracle.class, int.class, int.class);
    }

    static int mix(int seed) {
        int s = seed * 0x9e3779b1 + 0x7f4a7c15;
        return s ^ s >>> 15;
    }

    /** Native code calls it, too. */
    int go(int depth, int seed) {
        return next(depth, seed);
    }

    int next(int depth, int seed) {
        if (depth <= 0) {
            return leaf(seed);
        }
        int s = mix(seed);
        switch ((s >>> 8) % KINDS) {
            case 0:
                return direct(depth - 1, s);
            case 1:
                return shapes[(s >>> 3) % shapes.length & 3].go(depth - 1, s);
            case 2:
                return bases[s & 1].go(depth - 1, s);
            case 3:
                return synchronous(depth - 1, s);
            case 4:
                return locked(depth - 1, s);
            case 5:
                return down(this, depth - 1, s);
            case 6:
                return recursive(s & 7, depth - 1, s);
            case 7:
                return looped(depth - 1, s);
            case 8:
                return caught(depth - 1, s);
            case 9:
                return lambda(depth - 1, s);
            case 10:
                return reflected(depth - 1, s);
            case 11:
                return handled(depth - 1, s);
            case 12:
                return proxy.go(depth - 1, s);
            case 13:
                return streamed(depth - 1, s);
            case 14:
                return privileged(depth - 1, s);
            case 15:
                return compared(depth - 1, s);
            case 16:
                return finallyDone(depth - 1, s);
            case 17:
                return generic(depth - 1, s);
            case 18:
                return allocated(depth - 1, s);
            case 19:
                return up(0) + direct(depth - 1, s);
            case 20:
                return concat(depth - 1, s);
            case 21:
                return wide(depth - 1, s, 1L, 2.0, 3.0f, "a", null);
            case 22:
                return switched(depth - 1, s);
            case 23:
                return fields(depth - 1, s);
            case 24:
                return mapped(depth - 1, s);
            default:
                return three(depth - 1, s);
        }
    }

    // ---- kinds of calls ----

    int direct(int depth, int seed) {
        return direct2(depth, seed) + 1;
    }

    private int direct2(int depth, int seed) {
        return next(depth, seed) + 1;
    }

    synchronized int synchronous(int depth, int seed) {
        return next(depth, seed);
    }

    int locked(int depth, int seed) {
        synchronized (shapes) {
            int r = next(depth, seed);
            synchronized (bases) {
                return r + next(0, seed);
            }
        }
    }

    int recursive(int n, int depth, int seed) {
        return n == 0 ? next(depth, seed) : recursive(n - 1, depth, seed) + n;
    }

    int looped(int depth, int seed) {
        int r = 0;
        for (int i = 0; i < 20; i++) {
            r = r * 31 + i;
            if (i == (seed & 15)) {
                r += next(depth, seed);
            }
        }
        return r;
    }

    static final class Thrown extends RuntimeException {
        final int value;

        Thrown(int value) {
            super("thrown", null, false, false);
            this.value = value;
        }
    }

    int thrower(int seed) {
        if ((seed & 3) == 0) {
            throw new Thrown(seed);
        }
        return seed & 1;
    }

    int caught(int depth, int seed) {
        try {
            return thrower(seed) + next(depth, seed);
        } catch (Thrown t) {
            return next(depth, t.value);
        }
    }

    int lambda(int depth, int seed) {
        IntUnaryOperator f = x -> next(x, seed);
        IntBinaryOperator g = (x, y) -> f.applyAsInt(x) + y;
        return g.applyAsInt(depth, 1);
    }

    int byReflection(int depth, int seed) {
        return next(depth, seed);
    }

    static int staticByReflection(Oracle o, int depth, int seed) {
        return o.next(depth, seed);
    }

    int reflected(int depth, int seed) {
        try {
            return (seed & 1) == 0 ? (Integer) method.invoke(this, depth, seed)
                                   : (Integer) constructorLike.invoke(null, this, depth, seed);
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException(e);
        }
    }

    int byHandle(int depth, int seed) {
        return next(depth, seed);
    }

    int handled(int depth, int seed) {
        try {
            return (seed & 1) == 0 ? (int) handle.invokeExact(this, depth, seed) : (int) bound.invoke(depth);
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }

    int streamed(int depth, int seed) {
        return IntStream.range(0, 2).map(x -> x + 1).filter(x -> x > 1).map(x -> next(depth, seed)).sum();
    }

    int privileged(int depth, int seed) {
        return AccessController.doPrivileged((PrivilegedAction<Integer>) () -> next(depth, seed));
    }

    int compared(int depth, int seed) {
        Integer[] a = {3, 1};
        int[] r = {0};
        Arrays.sort(a, (x, y) -> {
            r[0] += next(depth, seed);
            return x - y;
        });
        return r[0];
    }

    int finallyDone(int depth, int seed) {
        int r = 0;
        try {
            r = next(depth, seed);
        } finally {
            r += leaf(seed);
        }
        return r;
    }

    <T extends Callable<Integer>> int called(T c) {
        try {
            return c.call();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    int generic(int depth, int seed) {
        return called(() -> next(depth, seed));
    }

    int allocated(int depth, int seed) {
        int[] a = new int[(seed & 31) + 1];
        Object[][] b = new Object[2][(seed & 7) + 1];
        int[] c = a.clone();
        Object[] d = Arrays.copyOf(b, 3);
        sink = (seed & 1) == 0 ? c : d;
        return next(depth, seed) + c.length;
    }

    int concat(int depth, int seed) {
        String s = "depth " + depth + " of " + seed + 'c' + 1.5;
        sink = s;
        return next(depth, s.hashCode());
    }

    int wide(int depth, int seed, long l, double d, float f, String s, Object o) {
        return next(depth, seed) + (int) l + (int) d + (int) f + s.length();
    }

    int switched(int depth, int seed) {
        switch (Integer.toString(seed & 3)) {
            case "0":
                return next(depth, seed);
            case "1":
                return next(depth, seed + 1);
            default:
                return direct(depth, seed);
        }
    }

    int fields(int depth, int seed) {
        volatileSink = seed;
        int r = next(depth, volatileSink);
        volatileSink = r;
        return r;
    }

    int mapped(int depth, int seed) {
        TreeMap<String, Integer> m = new TreeMap<>();
        m.put("b" + seed, 1);
        return m.computeIfAbsent("a" + seed, k -> next(depth, seed));
    }

    int three(int depth, int seed) {
        return inlined1(depth, seed);
    }

    private int inlined1(int depth, int seed) {
        int r = inlined2(depth, seed);
        return r + 1;
    }

    private int inlined2(int depth, int seed) {
        return inlined3(depth, seed) + volatileSink;
    }

    private static int hash(int seed) {
        return seed ^ seed >>> 3;
    }

    private int inlined3(int depth, int seed) {
        int h = hash(seed);
        return next(depth, h) + hash(h);
    }

    // ---- the innermost ones ----

    int leaf(int seed) {
        switch (mix(seed) >>> 4 & 15) {
            case 0:
            case 1:
                return up(seed);
            case 2:
                sink = new byte[seed & 255];
                return 1;
            case 3:
                sink = Integer.valueOf(seed);
                return 2;
            case 4:
                sink = "x" + seed;
                return 3;
            case 5:
                return brokenLeaf(seed);
            case 6:
                return contended(seed);
            case 7:
                return divided(seed);
            case 8:
                return nothing(null, seed);
            case 9:
                sink = shapes.clone();
                return 4;
            case 10:
                return bounds(shapes, seed);
            default:
                look();
                return 5;
        }
    }

    int brokenLeaf(int seed) {
        int r = seed;
        if ((r & 1) == 0) {
            r += hash(r);
        }
        synchronized (LOCK) {
            r ^= 5;
        }
        return r;
    }

    int contended(int seed) {
        synchronized (LOCK) {
            look();
            return hash(seed);
        }
    }

    int divided(int seed) {
        try {
            return 5 / (seed & 1);
        } catch (ArithmeticException e) {
            look();
            return 0;
        }
    }

    int nothing(int[] a, int seed) {
        try {
            return a.length;
        } catch (NullPointerException e) {
            return seed;
        }
    }

    int bounds(Shape[] s, int seed) {
        try {
            return s[seed & 7].hashCode();
        } catch (ArrayIndexOutOfBoundsException e) {
            return seed;
        }
    }

    // ---- programs ----

    /** A loop that is compiled by OSR. */
    int onStack(int rounds, int seed) {
        int r = seed;
        for (int i = 0; i < rounds && wanted() > 0; i++) {
            r = mix(r);
            if ((i & 63) == 0) {
                next(i / 64 & 7, r);
            }
        }
        return r;
    }

    /**
     * Classes whose initialisers call on. Each initialiser runs once, so there are more classes compiled than a JVM
     * initialises.
     */
    static class Init1 {
        static final int VALUE = start(1);
    }

    static class Init2 {
        static final int VALUE = start(2) + Init1.VALUE;
    }

    static class Init3 extends Init2 {
        static final int MINE = start(3) + VALUE;
    }

    static Oracle current;

    static int start(int n) {
        return current.next(5, n) + current.direct(3, n);
    }

    void work(int seed, long end) {
        int s = seed;
        while (wanted() > 0 && System.nanoTime() < end && !done) {
            s = mix(s);
            next((s >>> 20 & 15) + (s >>> 27 == 0 ? 40 : 0), s);
            if ((s & 255) == 0) {
                onStack(3000, s);
            }
        }
    }

    static int traced(Oracle o, int seed) {
        trace(true);
        int r = o.next(seed & 7, seed) + o.brokenLeaf(seed);
        trace(false);
        return r;
    }

    static double spun;

    /** Work for suspended threads: loops with polls, and calls that return, all inlined into each other. */
    static double polled(int rounds, int seed) {
        double x = seed;
        for (long i = 0; i < rounds; i++) {
            x += step(x, i);
            if (x > 1e9) {
                x = half(x);
            }
        }
        return x;
    }

    static double half(double x) {
        return x / 2;
    }

    static double step(double x, long i) {
        return inner(x, (int) (i & 3)) * 0.5;
    }

    static double inner(double x, int n) {
        double y = x;
        for (long k = 0; k < n; k++) {
            y = y * 0.9 + k;
        }
        return y;
    }

    static long recursed(long n) {
        return n < 2 ? n : recursed(n - 1) + recursed(n - 2);
    }

    void hunted(int seed, long end) {
        prey(true);
        int s = seed;
        while (wanted() > 0 && System.nanoTime() < end && !done) {
            s = mix(s);
            spun += polled(20000, s);
            spun += recursed(s & 15);
            next(s >>> 20 & 7, s);
        }
        prey(false);
    }

    interface Work {
        void on(Oracle o);
    }

    /** Each thread locks its own objects, and LOCK last. */
    static Thread run(String name, Work w) throws ReflectiveOperationException {
        Oracle o = new Oracle();
        Runnable r = () -> w.on(o);
        Thread t = new Thread(r, name);
        t.start();
        return t;
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        long end = System.nanoTime() + (long) (Double.parseDouble(args[1]) * 1e9);
        String mode = args[2];
        Oracle o = new Oracle();
        current = o;
        breakAt(Oracle.class);
        sink = Init3.MINE;
        if (mode.equals("prey")) {
            Thread a = run("prey-1", x -> x.hunted(1, end));
            Thread b = run("prey-2", x -> x.hunted(2, end));
            while (wanted() > 0 && System.nanoTime() < end) {
                prowl(100);
            }
            done = true;
            a.join();
            b.join();
        } else if (mode.equals("trace")) {
            for (int seed = 1; wanted() > 0 && System.nanoTime() < end; seed++) {
                traced(o, mix(seed));
            }
        } else {
            Thread other = run("other", x -> x.work(77, end));
            Thread starts = run("starts", x -> {
                for (int i = 0; wanted() > 0 && System.nanoTime() < end; i++) {
                    int seed = i;
                    try {
                        run("short-" + i, y -> y.next(6, seed)).join();
                        Thread.sleep(5);
                    } catch (InterruptedException | ReflectiveOperationException e) {
                        return;
                    }
                }
            });
            o.work(1, end);
            other.join();
            starts.join();
        }
        System.out.println("left " + wanted());
    }
}
