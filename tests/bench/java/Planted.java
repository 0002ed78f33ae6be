// SPDX-License-Identifier: Apache-2.0
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;

/**
 * Does the same work round by round, for recordings that are compared: arithmetic, tables, texts, sorting, and one method whose
 * work the argument changes. Planted PERCENT: that method takes so much longer that the whole program is PERCENT slower. Prints
 * "ready" when the code is warm, and goes on until it is killed.
 */
public class Planted {
    static final Random random = new Random();
    static long sink;
    static final int[] cells = new int[1 << 16];
    static final String[] words = "a trace holds everything that is needed to read it on any machine".split(" ");

    static void multiply(int n) {
        long x = sink | 1;
        for (int i = 0; i < n; i++)
            x = x * 6364136223846793005L + 1442695040888963407L;
        sink += x;
    }

    static void divide(int n) {
        double x = 1;
        for (int i = 0; i < n; i++)
            x = x * 0.999 + 1.0 / (i + 1);
        sink += (long) x;
    }

    static void walk(int n) {
        int at = (int) sink & 0xffff;
        for (int i = 0; i < n; i++) {
            cells[at] += i;
            at = (at * 5 + cells[at] + 1) & 0xffff;
        }
        sink += at;
    }

    static void count(int n) {
        Map<String, Integer> counts = new HashMap<>();
        for (int i = 0; i < n; i++)
            counts.merge(words[i % words.length], 1, Integer::sum);
        sink += counts.size();
    }

    static void write(int n) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < n; i++)
            text.append(words[i % words.length]).append(i);
        sink += text.length();
    }

    static void sort(int n) {
        int[] numbers = new int[n];
        for (int i = 0; i < n; i++)
            numbers[i] = (int) (sink ^ i * 0x9e3779b9);
        Arrays.sort(numbers);
        sink += numbers[n / 2];
    }

    static void changed(int n) {
        long x = sink | 1;
        for (int i = 0; i < n; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        sink += x;
    }

    /** The parts come in any order, and lengths vary, so that no sampling is in step with them. */
    static void round(int changed) {
        for (int i = 0; i < 7; i++) {
            double length = 0.5 + random.nextDouble();
            switch (random.nextInt(7)) {
                case 0:
                    multiply((int) (40000 * length));
                    break;
                case 1:
                    divide((int) (12000 * length));
                    break;
                case 2:
                    walk((int) (12000 * length));
                    break;
                case 3:
                    count((int) (4000 * length));
                    break;
                case 4:
                    write((int) (2500 * length));
                    break;
                case 5:
                    sort((int) (1200 * length));
                    break;
                default:
                    changed((int) (changed * length));
            }
        }
    }

    public static void main(String[] args) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        int base = 12000;
        long own = 0, all = 0;
        for (int i = 0; i < 3000; i++) {
            long begin = threads.getCurrentThreadCpuTime();
            round(base);
            long between = threads.getCurrentThreadCpuTime();
            changed(base);
            if (i >= 1500) {
                all += between - begin;
                own += threads.getCurrentThreadCpuTime() - between;
            }
        }
        int changed = base + (int) (base * Double.parseDouble(args[0]) / 100 * all / own);
        System.out.println("ready");
        while (true)
            round(changed);
    }
}
