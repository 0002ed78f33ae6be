// SPDX-License-Identifier: Apache-2.0
import java.sql.*;
import java.util.*;
/** JNI heavy: sqlite-jdbc. args rows queries */
public class SqliteJni {
    public static void main(String[] a) throws Exception {
        int rows = Integer.parseInt(a[0]), nq = Integer.parseInt(a[1]);
        long t0 = System.nanoTime();
        try (Connection c = DriverManager.getConnection("jdbc:sqlite::memory:")) {
            Statement s = c.createStatement();
            s.execute("create table t(id integer primary key,k int,v text)");
            c.setAutoCommit(false);
            PreparedStatement p = c.prepareStatement("insert into t values(?,?,?)");
            Random r = new Random(1);
            for (int i = 0; i < rows; i++) {
                p.setInt(1, i);
                p.setInt(2, r.nextInt(rows / 10));
                p.setString(3, "value-" + r.nextInt());
                p.addBatch();
                if (i % 500 == 0)
                    p.executeBatch();
            }
            p.executeBatch();
            c.commit();
            s.execute("create index ix on t(k)");
            System.out.println("load ms " + (System.nanoTime() - t0) / 1000000);
            org.sqlite.Function.create(c, "jhash", new org.sqlite.Function() {
                protected void xFunc() throws SQLException {
                    result(value_text(0).hashCode());
                }
            });
            PreparedStatement q = c.prepareStatement("select id,v from t where k=? order by v"),
                              agg = c.prepareStatement("select sum(jhash(v)) from t where k between ? and ?");
            long x = 0;
            for (int i = 0; i < nq; i++) {
                q.setInt(1, r.nextInt(rows / 10));
                try (ResultSet rs = q.executeQuery()) {
                    while (rs.next())
                        x += rs.getString(2).length();
                }
                if (i % 10 == 0) {
                    int k = r.nextInt(rows / 10);
                    agg.setInt(1, k);
                    agg.setInt(2, k + 20);
                    try (ResultSet rs = agg.executeQuery()) {
                        rs.next();
                        x += rs.getLong(1);
                    }
                }
            }
            System.out.println("x " + x + " total ms " + (System.nanoTime() - t0) / 1000000);
        }
    }
}
