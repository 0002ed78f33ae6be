// SPDX-License-Identifier: Apache-2.0
/** Starts many short threads, and leaves one that sleeps all the time. It then waits for a line, twice. */
public class Lives {
    public static void main(String[] args) throws Exception {
        Thread sleeper = new Thread(() -> {
            try {
                Thread.sleep(1000000);
            } catch (InterruptedException e) {
                return;
            }
        }, "sleeper");
        sleeper.setDaemon(true);
        sleeper.start();
        System.out.println("ready");
        System.in.read();
        for (int i = 0; i < 300; i++) {
            Thread t = new Thread(() -> Thread.yield(), "short-" + i);
            t.start();
            if (i % 10 == 0) {
                t.join();
            }
        }
        System.out.println("end");
        System.in.read();
    }
}
