// SPDX-License-Identifier: Apache-2.0
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Method;

/**
 * ChurnRedefine SECONDS, with itself as -javaagent: redefines ChurnVersion repeatedly while one of its methods runs.
 * Prints "thread version from to" for each call, which keeps the version that it began with until it returns.
 */
public class ChurnRedefine {
    static final int VERSIONS = 3, LEAST_TURNS = 10; // calls, however busy the machine is
    static final long CALL_NS = 10_000_000;
    static Instrumentation instrumentation;
    static volatile double sink;

    static class Loader extends ClassLoader {
        Loader() {
            super(ChurnRedefine.class.getClassLoader());
        }

        Class<?> define(byte[] bytes) {
            return defineClass(null, bytes, 0, bytes.length);
        }
    }

    public static void premain(String args, Instrumentation i) {
        instrumentation = i;
    }

    static byte[] version(int n) throws Exception {
        return Churn.renamed("ChurnVersion" + n, "ChurnVersion" + n, "ChurnVersion");
    }

    public static void main(String[] args) throws Exception {
        long endNs = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        StringBuilder truth = new StringBuilder();
        Class<?> c = new Loader().define(version(0));
        Method body = c.getDeclaredMethod("body", double.class, long.class);
        body.setAccessible(true);
        for (int n = 0, turns = 0; System.nanoTime() < endNs || turns < LEAST_TURNS; n = (n + 1) % VERSIONS, turns++) {
            int next = (n + 1) % VERSIONS;
            Thread redefiner = new Thread(() -> {
                try {
                    Thread.sleep(CALL_NS / 2_000_000);
                    instrumentation.redefineClasses(new ClassDefinition(c, version(next)));
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }, "redefiner");
            redefiner.start();
            long from = System.nanoTime();
            sink = (Double) body.invoke(null, sink, from + CALL_NS);
            truth.append("main ").append(ChurnVersions.ran).append(' ').append(from).append(' ').append(System.nanoTime()).append('\n');
            redefiner.join();
        }
        System.out.print(truth);
    }
}
