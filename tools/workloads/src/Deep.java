// SPDX-License-Identifier: Apache-2.0
public class Deep {
    static int d(int n) {
        return n == 0 ? spin() : 1 + d(n - 1);
    }
    static int spin() {
        long e = System.nanoTime() + 20_000_000L;
        int x = 0;
        while (System.nanoTime() < e)
            x++;
        return x & 1;
    }
    public static void main(String[] a) throws Exception {
        int depth = Integer.parseInt(a[0]);
        long end = System.currentTimeMillis() + 1000L * Integer.parseInt(a[1]);
        Thread t = new Thread(null, () -> {
            long n = 0;
            while (System.currentTimeMillis() < end)
                n += d(depth);
            System.out.println(n);
        }, "deep", 1L << 30);
        t.start();
        t.join();
    }
}
