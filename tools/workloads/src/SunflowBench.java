// SPDX-License-Identifier: Apache-2.0
import org.sunflow.*;
public class SunflowBench {
    public static void main(String[] a) throws Exception {
        int n = Integer.parseInt(a[0]), res = Integer.parseInt(a[1]), th = Integer.parseInt(a[2]);
        /*golden must exist for the size*/ Benchmark b = new Benchmark(res, false, false, false, th, false);
        b.kernelBegin();
        for (int i = 0; i < n; i++) {
            long t = System.nanoTime();
            b.kernelMain();
            System.out.println("iter " + i + " " + (System.nanoTime() - t) / 1000000 + " ms");
        }
    }
}
