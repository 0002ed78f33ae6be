// SPDX-License-Identifier: Apache-2.0
/**
 * Late COLLECTIONS: requests this many collections while another thread copies arrays, during which it cannot reach a
 * safepoint.
 */
public class Late {
    static final int[] FROM = new int[24 << 20];
    static final int[] TO = new int[24 << 20];
    static volatile boolean done;
    static volatile long turns;

    static void copy() {
        while (!done) {
            System.arraycopy(FROM, 0, TO, 0, FROM.length);
        }
    }

    static void spin() {
        while (!done) {
            turns++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread copier = new Thread(Late::copy, "copier");
        Thread spinner = new Thread(Late::spin, "spinner");
        copier.start();
        spinner.start();
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            System.gc();
            long before = turns;
            while (turns == before) {
                Thread.sleep(1);
            }
        }
        done = true;
        copier.join();
        spinner.join();
    }
}
