// SPDX-License-Identifier: Apache-2.0
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** Burns CPU time in a class and threads with names that the JVM accepts and no compiler does. */
public class Evil {
    static final String MARK = "EvilTemplate";
    static final String NAME = "Evil<img src=x onerror=alert(1)>&\"'\u202e\u00e9";

    static class Loader extends ClassLoader {
        Class<?> define(byte[] bytes) {
            return defineClass(null, bytes, 0, bytes.length);
        }
    }

    /** The template's class file, with the new name wherever its constants have the old one (JVMS 4.4.7). */
    static byte[] renamed(InputStream in) throws Exception {
        DataInputStream from = new DataInputStream(in);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream to = new DataOutputStream(bytes);
        to.writeInt(from.readInt());
        to.writeInt(from.readInt());
        int count = from.readUnsignedShort();
        to.writeShort(count);
        for (int i = 1; i < count; i++) {
            int tag = from.readUnsignedByte();
            to.writeByte(tag);
            if (tag == 1) {
                to.writeUTF(from.readUTF().replace(MARK, NAME));
                continue;
            }
            boolean wide = tag == 5 || tag == 6; // long, double: they take two entries
            int length = wide ? 8 : tag == 15 ? 3 : tag == 7 || tag == 8 || tag == 16 || tag == 19 || tag == 20 ? 2 : 4;
            byte[] rest = new byte[length];
            from.readFully(rest);
            to.write(rest);
            i += wide ? 1 : 0;
        }
        for (int b = from.read(); b >= 0; b = from.read()) {
            to.write(b);
        }
        return bytes.toByteArray();
    }

    public static void main(String[] args) throws Exception {
        Class<?> evil = new Loader().define(renamed(Evil.class.getResourceAsStream("/" + MARK + ".class")));
        Runnable burn = (Runnable) evil.getDeclaredConstructor().newInstance();
        String[] names = {"</script><img src=x>", "two words; 12/34 [000] 1.5: 1 x:", "line\nfeed\u001b[31m", "\u00fcn\u00efcode"};
        for (String name : names) {
            Thread t = new Thread(burn, name);
            t.start();
            t.join();
        }
        System.out.write((evil.getName() + "\n").getBytes(StandardCharsets.UTF_8));
        System.out.flush();
    }
}
