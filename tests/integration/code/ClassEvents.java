// SPDX-License-Identifier: Apache-2.0
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.lang.management.ClassLoadingMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/** Loads the same class by many loaders, drops them, and prints how many classes the JVM has loaded and unloaded. */
public class ClassEvents {
    static final ClassLoadingMXBean CLASSES = ManagementFactory.getClassLoadingMXBean();

    public static class Template {
        static int number = 1;
        static final Template[] ARRAY = {};
    }

    static class Shop extends ClassLoader {
        private final byte[] bytes;

        Shop(byte[] bytes) {
            super(null);
            this.bytes = bytes;
        }

        @Override
        protected Class<?> findClass(String name) {
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    static byte[] bytesOf(String file) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] part = new byte[4096];
        try (InputStream in = ClassEvents.class.getResourceAsStream(file)) {
            for (int n = in.read(part); n > 0; n = in.read(part)) {
                out.write(part, 0, n);
            }
        }
        return out.toByteArray();
    }

    static void load(int count) throws Exception {
        byte[] bytes = bytesOf("ClassEvents$Template.class");
        List<Class<?>> kept = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Class<?> c = new Shop(bytes).loadClass("ClassEvents$Template");
            kept.add(c);
            if (i % 2 == 0) { // linked and initialised
                c.getDeclaredField("number").setAccessible(true);
                Class.forName(c.getName(), true, c.getClassLoader());
            }
        }
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        System.out.println("ready");
        if (args.length > 1) { // until it is recorded
            System.in.read();
        }
        load(count);
        System.out.println("shops " + count);
        long end = System.nanoTime() + 30_000_000_000L;
        while (CLASSES.getUnloadedClassCount() < count && System.nanoTime() < end) {
            System.gc();
            Thread.sleep(20);
        }
        System.out.println("total " + CLASSES.getTotalLoadedClassCount());
        System.out.println("unloaded " + CLASSES.getUnloadedClassCount());
        System.out.println("end");
        System.out.flush();
        if (args.length > 1) {
            System.in.read();
        }
    }
}
