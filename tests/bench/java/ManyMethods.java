// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A program with thousands of compiled methods, which measures how long it is kept from running. Argument: the number
 * of methods. It prints "ready" when all are compiled, and answers each line "mark" with the time (System.nanoTime) and
 * the longest delay since the previous mark, in nanoseconds, of a thread that wakes up every millisecond.
 */
public class ManyMethods {
    private static final int PER_CLASS = 50;
    private static final int WARM_CALLS = 12_000;
    private static final int CLASS_FILE_VERSION = 49; // the last version that needs no stack maps for a loop

    private static final int INT_ARGUMENT = 6; // constant pool: "(I)I"
    private static final int FIRST_METHOD = 7; // and three entries for each method: name, name and type, reference

    static volatile int sink;
    static volatile boolean running = true;

    static class Loader extends ClassLoader {
        Class<?> define(String name, byte[] file) {
            return defineClass(name, file, 0, file.length);
        }
    }

    /** Methods m0 to m49, three of four of which call the one before, and one that calls them all. */
    static byte[] classFile(String name) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(0xcafebabe);
        out.writeInt(CLASS_FILE_VERSION);
        out.writeShort(FIRST_METHOD + 3 * PER_CLASS + 1);
        utf8(out, name);
        reference(out, 7, 1);
        utf8(out, "java/lang/Object");
        reference(out, 7, 3);
        utf8(out, "Code");
        utf8(out, "(I)I");
        for (int i = 0; i < PER_CLASS; i++) {
            utf8(out, "m" + i);
            reference(out, 12, FIRST_METHOD + 3 * i, INT_ARGUMENT);
            reference(out, 10, 2, FIRST_METHOD + 3 * i + 1);
        }
        utf8(out, "all");
        out.writeShort(0x0021); // public, super
        out.writeShort(2);
        out.writeShort(4);
        out.writeShort(0);
        out.writeShort(0);
        out.writeShort(PER_CLASS + 1);
        for (int i = 0; i < PER_CLASS; i++) {
            method(out, FIRST_METHOD + 3 * i, body(i));
        }
        method(out, FIRST_METHOD + 3 * PER_CLASS, callAll());
        out.writeShort(0);
        return bytes.toByteArray();
    }

    static void utf8(DataOutputStream out, String text) throws IOException {
        out.writeByte(1);
        out.writeUTF(text);
    }

    static void reference(DataOutputStream out, int tag, int... indexes) throws IOException {
        out.writeByte(tag);
        for (int i : indexes) {
            out.writeShort(i);
        }
    }

    static void method(DataOutputStream out, int name, byte[] code) throws IOException {
        out.writeShort(0x0009); // public, static
        out.writeShort(name);
        out.writeShort(INT_ARGUMENT);
        out.writeShort(1);
        out.writeShort(5); // "Code"
        out.writeInt(12 + code.length);
        out.writeShort(3); // stack
        out.writeShort(3); // locals
        out.writeInt(code.length);
        out.write(code);
        out.writeShort(0);
        out.writeShort(0);
    }

    /** int x = i % 4 == 0 ? a : m(i-1)(a >>> 1); for (int n = 0; n < 3; n++) x = x * 31 + i; return x; */
    static byte[] body(int i) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeByte(0x1a); // iload_0
        if (i % 4 != 0) {
            out.writeByte(0x04); // iconst_1
            out.writeByte(0x7c); // iushr
            call(out, i - 1);
        }
        out.write(new byte[] {0x3c, 0x03, 0x3d}); // istore_1, iconst_0, istore_2
        out.write(new byte[] {0x1c, 0x06, (byte) 0xa2, 0, 18}); // iload_2, iconst_3, if_icmpge to the end
        out.write(new byte[] {0x1b, 0x10, 31, 0x68}); // iload_1, bipush 31, imul
        out.writeByte(0x11); // sipush
        out.writeShort(i);
        out.write(new byte[] {0x60, 0x3c}); // iadd, istore_1
        out.write(new byte[] {(byte) 0x84, 2, 1}); // iinc 2, 1
        out.writeByte(0xa7); // goto
        out.writeShort(-17);
        out.write(new byte[] {0x1b, (byte) 0xac}); // iload_1, ireturn
        return bytes.toByteArray();
    }

    static byte[] callAll() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        for (int i = 0; i < PER_CLASS; i++) {
            out.writeByte(0x1a); // iload_0
            call(out, i);
            out.writeByte(0x3b); // istore_0
        }
        out.write(new byte[] {0x1a, (byte) 0xac}); // iload_0, ireturn
        return bytes.toByteArray();
    }

    static void call(DataOutputStream out, int i) throws IOException {
        out.writeByte(0xb8); // invokestatic
        out.writeShort(FIRST_METHOD + 3 * i + 2);
    }

    static MethodHandle[] generate(int methods) throws Exception {
        Loader loader = new Loader();
        MethodHandle[] all = new MethodHandle[(methods + PER_CLASS - 1) / PER_CLASS];
        for (int i = 0; i < all.length; i++) {
            String name = "Generated" + i;
            all[i] = MethodHandles.publicLookup().findStatic(
                    loader.define(name, classFile(name)), "all", MethodType.methodType(int.class, int.class));
        }
        return all;
    }

    static void callEach(MethodHandle[] all, int times) throws Throwable {
        int x = sink;
        for (MethodHandle h : all) {
            for (int i = 0; i < times; i++) {
                x = (int) h.invokeExact(x);
            }
        }
        sink = x;
    }

    /** Waits until the compiler threads have been idle for a while. */
    static void awaitCompilers(MethodHandle[] all) throws Throwable {
        CompilationMXBean compilation = ManagementFactory.getCompilationMXBean();
        long before = -1;
        while (compilation.getTotalCompilationTime() != before) {
            before = compilation.getTotalCompilationTime();
            for (int i = 0; i < 10; i++) {
                callEach(all, 100);
                Thread.sleep(50);
            }
        }
    }

    static void daemon(String name, Runnable what) {
        Thread t = new Thread(what, name);
        t.setDaemon(true);
        t.start();
    }

    static void work(MethodHandle[] all) {
        try {
            while (running) {
                callEach(all, 10);
                LockSupport.parkNanos(500_000);
            }
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    static void watch(AtomicLong latest) {
        long last = System.nanoTime();
        while (running) {
            LockSupport.parkNanos(1_000_000);
            long now = System.nanoTime();
            long late = now - last - 1_000_000;
            latest.accumulateAndGet(late, Math::max);
            last = now;
        }
    }

    public static void main(String[] args) throws Throwable {
        MethodHandle[] all = generate(Integer.parseInt(args[0]));
        AtomicLong latest = new AtomicLong();
        callEach(all, WARM_CALLS);
        awaitCompilers(all);
        daemon("worker", () -> work(all));
        daemon("watch", () -> watch(latest));
        Thread.sleep(500);
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); "mark".equals(line); line = in.readLine()) {
            System.out.println("mark " + System.nanoTime() + " " + latest.getAndSet(0));
        }
        running = false;
    }
}
