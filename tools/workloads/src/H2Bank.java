// SPDX-License-Identifier: Apache-2.0
import java.sql.*;
import java.util.*;
import java.util.concurrent.*;
/** TPC-B-like on H2: args url threads txPerThread rows */
public class H2Bank {
    public static void main(String[] a) throws Exception {
        String url = a[0];
        int th = Integer.parseInt(a[1]), tx = Integer.parseInt(a[2]), rows = Integer.parseInt(a[3]);
        try (Connection c = DriverManager.getConnection(url)) {
            Statement s = c.createStatement();
            s.execute("create table acc(id int primary key, bal bigint, pad varchar(100))");
            s.execute("create table hist(id bigint auto_increment primary key, a int, b int, amt int)");
            c.setAutoCommit(false);
            PreparedStatement p = c.prepareStatement("insert into acc values(?,?,?)");
            for (int i = 0; i < rows; i++) {
                p.setInt(1, i);
                p.setLong(2, 1000);
                p.setString(3, "x".repeat(80));
                p.addBatch();
                if (i % 1000 == 999)
                    p.executeBatch();
            }
            p.executeBatch();
            c.commit();
        }
        ExecutorService ex = Executors.newFixedThreadPool(th);
        List<Future<Integer>> fs = new ArrayList<>();
        long t0 = System.nanoTime();
        for (int k = 0; k < th; k++) {
            final int seed = k;
            fs.add(ex.submit(() -> {
                Random r = new Random(seed);
                int retry = 0;
                try (Connection c = DriverManager.getConnection(url)) {
                    c.setAutoCommit(false);
                    PreparedStatement u = c.prepareStatement("update acc set bal=bal+? where id=?"),
                                      q = c.prepareStatement("select bal from acc where id=?"),
                                      h = c.prepareStatement("insert into hist(a,b,amt) values(?,?,?)"),
                                      g = c.prepareStatement(
                                              "select count(*),sum(bal) from acc where id between ? and ?");
                    for (int i = 0; i < tx; i++) {
                        int x = r.nextInt(rows), y = r.nextInt(rows), m = r.nextInt(100);
                        if (x > y) {
                            int t = x;
                            x = y;
                            y = t;
                        }
                        try {
                            u.setInt(1, -m);
                            u.setInt(2, x);
                            u.executeUpdate();
                            u.setInt(1, m);
                            u.setInt(2, y);
                            u.executeUpdate();
                            q.setInt(1, x);
                            try (ResultSet rs = q.executeQuery()) {
                                rs.next();
                            }
                            h.setInt(1, x);
                            h.setInt(2, y);
                            h.setInt(3, m);
                            h.executeUpdate();
                            if (i % 20 == 0) {
                                g.setInt(1, x);
                                g.setInt(2, Math.min(rows, x + 500));
                                try (ResultSet rs = g.executeQuery()) {
                                    rs.next();
                                }
                            }
                            c.commit();
                        } catch (SQLException e) {
                            c.rollback();
                            retry++;
                        }
                    }
                }
                return retry;
            }));
        }
        int rt = 0;
        for (Future<Integer> f : fs)
            rt += f.get();
        ex.shutdown();
        try (Connection c = DriverManager.getConnection(url);
                ResultSet rs = c.createStatement().executeQuery("select sum(bal) from acc")) {
            rs.next();
            System.out.printf("sum=%d retries=%d tx/s=%.0f%n", rs.getLong(1), rt,
                    th * (long) tx / ((System.nanoTime() - t0) / 1e9));
        }
    }
}
