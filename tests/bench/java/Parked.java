// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/* Threads that wait for ever: `platform N` own two monitors each, `virtual N` own none (JDK 21 and later). */
public class Parked {
    static CountDownLatch started;

    static void park() {
        started.countDown();
        for (;;) {
            LockSupport.park();
        }
    }

    static void deeper(int depth) {
        if (depth > 0) {
            deeper(depth - 1);
        } else {
            park();
        }
    }

    static void owner() {
        synchronized (new Object()) {
            synchronized (new int[1]) {
                deeper(20);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[1]);
        started = new CountDownLatch(count);
        for (int i = 0; i < count; i++) {
            if (args[0].equals("virtual")) {
                Runnable body = () -> deeper(20);
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
            } else {
                new Thread(null, Parked::owner, "owner-" + i, 256 << 10).start();
            }
        }
        started.await();
        System.out.println("ready");
        System.in.read();
        System.exit(0);
    }
}
