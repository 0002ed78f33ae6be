// SPDX-License-Identifier: Apache-2.0
/** Java calls native code, which calls Java, which calls native code, which burns CPU time. */
public class Native {
    static {
        System.loadLibrary("native");
    }

    static native void outer(long cpuNs);

    static void callback(long cpuNs) {
        inner(cpuNs);
    }

    static native void inner(long cpuNs);

    /** The same from a native thread. */
    static native void foreign(long cpuNs);

    static void measured() {
        outer(300_000_000);
        foreign(300_000_000);
    }

    public static void main(String[] args) throws java.io.IOException {
        for (int i = 0; i < 20_000; i++) {
            outer(1000); // until the wrappers are compiled
        }
        System.out.println("ready");
        while (System.in.available() == 0) {
            outer(1_000_000);
        }
        measured();
    }
}
