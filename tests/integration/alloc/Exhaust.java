// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.List;

/** Exhausts the heap, the length of arrays, and threads, and prints how often it noticed. */
public class Exhaust {
    static Object kept;

    static int heap(int count) {
        int caught = 0;
        for (int i = 0; i < count; i++) {
            List<byte[]> list = new ArrayList<>();
            try {
                for (;;) {
                    list.add(new byte[4000]);
                }
            } catch (OutOfMemoryError e) {
                list = null;
                caught++;
            }
        }
        return caught;
    }

    static int array(int count) {
        int caught = 0;
        for (int i = 0; i < count; i++) {
            try {
                kept = new long[Integer.MAX_VALUE];
            } catch (OutOfMemoryError e) {
                caught++;
            }
        }
        return caught;
    }

    /** A stack of 64 terabytes never fits beside the existing mappings. */
    static int threads(int count) {
        int caught = 0;
        for (int i = 0; i < count; i++) {
            try {
                new Thread(null, () -> kept = null, "large", 1L << 46).start();
            } catch (OutOfMemoryError e) {
                caught++;
            }
        }
        return caught;
    }

    public static void main(String[] args) {
        System.out.println("heap " + heap(3));
        System.out.println("array " + array(2));
        System.out.println("threads " + threads(2));
    }
}
