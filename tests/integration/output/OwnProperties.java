// SPDX-License-Identifier: Apache-2.0
import java.util.Properties;
import java.util.Set;

/** Prints "asked" when it is asked for the names of the system properties, and throws, until a line or the end comes. */
public class OwnProperties extends Properties {
    private static final long serialVersionUID = 1;

    @Override
    public Set<String> stringPropertyNames() {
        System.out.println("asked");
        throw new IllegalStateException("these are not for everybody");
    }

    public static void main(String[] args) throws Exception {
        OwnProperties own = new OwnProperties();

        own.putAll(System.getProperties());
        System.setProperties(own);
        System.out.println("ready");
        System.in.read();
    }
}
