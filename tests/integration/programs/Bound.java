// SPDX-License-Identifier: Apache-2.0
/** Two native methods, and the addresses of their functions. */
public class Bound {
    static native long byName();

    static native void registered(long cpuNs);

    public static void main(String[] args) {
        System.load(args[0]);
        System.out.println("address Bound.registered " + byName());
        for (int i = 0; i < 20; i++) {
            registered(20_000_000);
        }
    }
}
