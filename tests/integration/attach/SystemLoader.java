// SPDX-License-Identifier: Apache-2.0
/** A system class loader of the application's own, which says what it is asked for, and a program that waits for a line. */
public class SystemLoader extends ClassLoader {
    public SystemLoader(ClassLoader parent) {
        super(parent);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        System.out.println("asked for " + name + " by " + Thread.currentThread().getName());
        return super.loadClass(name, resolve);
    }

    static class Late {
        int value;
    }

    static int allocate(int times) {
        int sum = 0;

        for (int i = 0; i < times; i++)
            sum += new Late().value;
        return sum;
    }

    public static void main(String[] args) throws Exception {
        allocate(1);
        System.out.println("ready");
        System.in.read();
        allocate(1000);
    }
}
