// SPDX-License-Identifier: Apache-2.0
import org.apache.catalina.startup.Tomcat;
import org.apache.catalina.*;
import jakarta.servlet.*;
import jakarta.servlet.http.*;
import java.util.*;
import java.util.concurrent.*;
import java.io.*;
/** embedded Tomcat 10: args port maxThreads seconds [virtual] */
public class Web {
    static final Map<Integer, String> cache = Collections.synchronizedMap(new LinkedHashMap<>(1000, 0.75f, true) {
        protected boolean removeEldestEntry(Map.Entry<Integer, String> e) {
            return size() > 2000;
        }
    });
    public static void main(String[] a) throws Exception {
        Tomcat t = new Tomcat();
        t.setBaseDir(System.getProperty("java.io.tmpdir") + "/tomcat");
        org.apache.catalina.connector.Connector c =
                new org.apache.catalina.connector.Connector("org.apache.coyote.http11.Http11NioProtocol");
        c.setPort(Integer.parseInt(a[0]));
        c.setProperty("address", "127.0.0.1");
        c.setProperty("maxThreads", a[1]);
        c.setProperty("maxKeepAliveRequests", "-1");
        if (a.length > 3)
            c.setProperty("useVirtualThreads", "true");
        t.setConnector(c);
        Context x = t.addContext("", null);
        Tomcat.addServlet(x, "s", new HttpServlet() {
            protected void doGet(HttpServletRequest q, HttpServletResponse r) throws IOException {
                int n = ThreadLocalRandom.current().nextInt(5000);
                String v;
                synchronized (cache) {
                    v = cache.get(n);
                    if (v == null) {
                        StringBuilder b = new StringBuilder();
                        for (int i = 0; i < 200; i++)
                            b.append("{\"id\":")
                                    .append(n * i)
                                    .append(",\"v\":\"")
                                    .append(Integer.toHexString(n ^ i))
                                    .append("\"},");
                        cache.put(n, v = b.toString());
                    }
                }
                if (n % 50 == 0)
                    try {
                        Thread.sleep(5);
                    } catch (InterruptedException e) {
                    }
                java.util.zip.GZIPOutputStream g = null;
                r.setContentType("application/json");
                byte[] o = v.getBytes("UTF-8");
                if (n % 4 == 0) {
                    ByteArrayOutputStream bo = new ByteArrayOutputStream();
                    g = new java.util.zip.GZIPOutputStream(bo);
                    g.write(o);
                    g.close();
                    o = bo.toByteArray();
                    r.setHeader("Content-Encoding", "gzip");
                }
                r.setContentLength(o.length);
                r.getOutputStream().write(o);
            }
        });
        x.addServletMappingDecoded("/*", "s");
        t.start();
        System.out.println("up");
        Thread.sleep(1000L * Integer.parseInt(a[2]));
        t.stop();
        System.exit(0);
    }
}
