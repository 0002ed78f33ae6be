// SPDX-License-Identifier: Apache-2.0
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

/**
 * Churn MODE SECONDS: runs generations of classes, each with its own names, and prints which one ran where and when:
 * "thread generation from to", in nanoseconds on the samples' clock. A sample of a thread at a time must be of the
 * generation that ran then.
 */
public class Churn {
    static final String TEMPLATE = "ChurnTemplate00000";
    static final int WORKERS = 2;
    static final long TURN_NS = 3_000_000;

    /** Defines one class per call, or keeps all of its classes. */
    static class Loader extends ClassLoader {
        Loader() {
            super(Churn.class.getClassLoader());
        }

        Class<?> define(byte[] bytes) {
            return defineClass(null, bytes, 0, bytes.length);
        }
    }

    interface Maker {
        ChurnBase make(int generation) throws Exception;
    }

    /** A class file with `to` wherever its constants have `from` (JVMS 4.4.7). */
    static byte[] renamed(String name, String from, String to) throws Exception {
        try (InputStream file = Churn.class.getResourceAsStream("/" + name + ".class")) {
            DataInputStream in = new DataInputStream(file);
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            DataOutputStream out = new DataOutputStream(bytes);
            out.writeInt(in.readInt());
            out.writeInt(in.readInt());
            int count = in.readUnsignedShort();
            out.writeShort(count);
            for (int i = 1; i < count; i++) {
                int tag = in.readUnsignedByte();
                out.writeByte(tag);
                if (tag == 1) {
                    out.writeUTF(in.readUTF().replace(from, to));
                    continue;
                }
                boolean wide = tag == 5 || tag == 6; // long, double: they take two entries
                boolean pair = tag == 7 || tag == 8 || tag == 16 || tag == 19 || tag == 20;
                byte[] rest = new byte[wide ? 8 : tag == 15 ? 3 : pair ? 2 : 4];
                in.readFully(rest);
                out.write(rest);
                i += wide ? 1 : 0;
            }
            for (int b = in.read(); b >= 0; b = in.read()) {
                out.write(b);
            }
            return bytes.toByteArray();
        }
    }

    static byte[] generation(int number) throws Exception {
        return renamed(TEMPLATE, "00000", String.format("%05d", number));
    }

    static ChurnBase instance(Class<?> c) throws Exception {
        return (ChurnBase) c.getDeclaredConstructor().newInstance();
    }

    /** Lookup.defineHiddenClass of JDK 15; older compilers do not have it. */
    static Class<?> hidden(byte[] bytes) throws Exception {
        Class<?> option = Class.forName("java.lang.invoke.MethodHandles$Lookup$ClassOption");
        Object none = Array.newInstance(option, 0);
        Method define = MethodHandles.Lookup.class.getMethod("defineHiddenClass", byte[].class, boolean.class, none.getClass());
        return ((MethodHandles.Lookup) define.invoke(MethodHandles.lookup(), bytes, false, none)).lookupClass();
    }

    /**
     * The same frames for every generation: stacks of two generations differ only in the meaning of their addresses.
     */
    static void turn(ChurnBase b, long endNs) {
        b.work(endNs);
    }

    /** Compiled for the only loaded class, until there is another. */
    static void parts(ChurnBase b, long endNs) {
        double x = ChurnBase.sink;
        do {
            x = b.part(x);
        } while (System.nanoTime() < endNs);
        ChurnBase.sink = x;
    }

    static void worker(int number, Maker maker, boolean parts, long collectEvery, long endNs, List<String> truth) throws Exception {
        StringBuilder text = new StringBuilder();
        String name = Thread.currentThread().getName();
        for (int n = number; System.nanoTime() < endNs; n += WORKERS) {
            long from = System.nanoTime();
            ChurnBase b = maker.make(n);
            long until = System.nanoTime() + TURN_NS;
            if (parts) {
                parts(b, until);
            } else {
                turn(b, until);
            }
            int said = Integer.parseInt(b.getClass().getName().replaceAll(".*Template(\\d+).*", "$1"));
            text.append(name).append(' ').append(said).append(' ').append(from).append(' ').append(System.nanoTime()).append('\n');
            b = null;
            if (collectEvery > 0 && number == 0 && n / WORKERS % collectEvery == collectEvery - 1) {
                System.gc();
            }
        }
        synchronized (truth) {
            truth.add(text.toString());
        }
    }

    static void workers(Maker maker, boolean parts, long collectEvery, long endNs) throws Exception {
        List<String> truth = new ArrayList<>();
        Thread[] threads = new Thread[WORKERS];
        for (int i = 0; i < WORKERS; i++) {
            int number = i;
            threads[i] = new Thread(() -> {
                try {
                    worker(number, maker, parts, collectEvery, endNs, truth);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }, "worker-" + i);
            threads[i].start();
        }
        for (Thread t : threads) {
            t.join();
        }
        truth.forEach(System.out::print);
    }

    /** Every turn runs in its own thread, named after the generation. */
    static void threads(ChurnBase[] all, long endNs) throws Exception {
        List<Thread> running = new ArrayList<>();
        for (int n = 0; System.nanoTime() < endNs; n++) {
            ChurnBase b = all[n % all.length];
            Thread t = new Thread(() -> turn(b, System.nanoTime() + TURN_NS), String.format("turn-%05d", n % all.length));
            t.start();
            running.add(t);
            if (running.size() == WORKERS) {
                running.remove(0).join();
            }
        }
        for (Thread t : running) {
            t.join();
        }
    }

    static ChurnBase[] loaded(int count) throws Exception {
        Loader loader = new Loader();
        ChurnBase[] all = new ChurnBase[count];
        for (int i = 0; i < count; i++) {
            all[i] = instance(loader.define(generation(i)));
        }
        return all;
    }

    public static void main(String[] args) throws Exception {
        long endNs = System.nanoTime() + (long) (Double.parseDouble(args[1]) * 1e9);
        switch (args[0]) {
            case "loader":
                workers(n -> instance(new Loader().define(generation(n))), false, 8, endNs);
                break;
            case "hidden":
                workers(n -> instance(hidden(generation(n))), false, 8, endNs);
                break;
            case "deopt":
                Loader one = new Loader();
                workers(n -> instance(one.define(generation(n))), true, 0, endNs);
                break;
            case "code":
                ChurnBase[] all = loaded(Integer.parseInt(args[2]));
                workers(n -> all[n % all.length], false, 0, endNs);
                break;
            case "threads":
                threads(loaded(64), endNs);
                break;
            default:
                throw new IllegalArgumentException(args[0]);
        }
    }
}
