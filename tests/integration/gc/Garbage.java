// SPDX-License-Identifier: Apache-2.0
import java.util.Random;

/** Makes as many MiB of garbage as its argument, some of which is kept, and then collects it. */
public class Garbage {
    private static final Object[] kept = new Object[1 << 14];
    private static volatile Object latest;

    public static void main(String[] args) {
        Random random = new Random(1);

        for (long left = Long.parseLong(args[0]) << 20; left > 0; ) {
            byte[] b = new byte[256 + random.nextInt(2048)];

            latest = b;
            if (random.nextInt(8) == 0) {
                kept[random.nextInt(kept.length)] = b;
            }
            left -= b.length;
        }
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
    }
}
