// SPDX-License-Identifier: Apache-2.0
import java.util.*;
import java.util.concurrent.*;
import java.net.*;
import java.io.*;
/** virtual threads (JDK 21+): args n seconds */
public class Vt {
    public static void main(String[] a) throws Exception {
        int n = Integer.parseInt(a[0]);
        long end = System.nanoTime() + Long.parseLong(a[1]) * 1000000000L;
        try (ServerSocket ss = new ServerSocket(0, 1000, InetAddress.getLoopbackAddress());
                var ex = Executors.newVirtualThreadPerTaskExecutor()) {
            ex.submit(() -> {
                try {
                    while (true) {
                        Socket s = ss.accept();
                        ex.submit(() -> {
                            try (s) {
                                var in = s.getInputStream();
                                var o = s.getOutputStream();
                                int b;
                                while ((b = in.read()) >= 0) {
                                    o.write(b + 1);
                                }
                            } catch (IOException e) {
                            }
                        });
                    }
                } catch (IOException e) {
                }
            });
            List<Future<Long>> l = new ArrayList<>();
            for (int i = 0; i < n; i++) {
                int id = i;
                l.add(ex.submit(() -> {
                    long c = 0;
                    if (id % 20 == 0) {
                        try (Socket s = new Socket(ss.getInetAddress(), ss.getLocalPort())) {
                            while (System.nanoTime() < end) {
                                s.getOutputStream().write((int) c & 63);
                                s.getInputStream().read();
                                c++;
                            }
                        }
                    } else
                        while (System.nanoTime() < end) {
                            Thread.sleep(10);
                            c += fib(18) & 1;
                        }
                    return c;
                }));
            }
            long t = 0;
            for (var f : l)
                t += f.get();
            System.out.println("ops " + t);
            ss.close();
        }
    }
    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }
}
