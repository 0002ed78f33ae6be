// SPDX-License-Identifier: Apache-2.0
import java.lang.management.ClassLoadingMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/** Loads classes until it gets a line, then prints how many the JVM has loaded in its life. */
public class Loading {
    static volatile boolean enough;
    static final List<Class<?>> KEPT = new ArrayList<>();

    static void load(byte[] bytes) throws Exception {
        while (!enough) {
            Class<?> c = new ClassEvents.Shop(bytes).loadClass("ClassEvents$Template");
            synchronized (KEPT) {
                KEPT.add(c);
            }
            Thread.sleep(1);
        }
    }

    public static void main(String[] args) throws Exception {
        ClassLoadingMXBean classes = ManagementFactory.getClassLoadingMXBean();
        byte[] bytes = ClassEvents.bytesOf("ClassEvents$Template.class");
        Thread[] loaders = new Thread[4];
        for (int i = 0; i < loaders.length; i++) {
            loaders[i] = new Thread() {
                @Override
                public void run() {
                    try {
                        load(bytes);
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                }
            };
            loaders[i].start();
        }
        System.out.println("ready");
        System.in.read();
        enough = true;
        for (Thread t : loaders) {
            t.join();
        }
        for (int i = 0; i < 2; i++) { // the second time it loads nothing
            System.out.println("loaded " + classes.getTotalLoadedClassCount());
        }
        System.out.println("end");
        System.in.read();
    }
}
