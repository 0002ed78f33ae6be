/**
 * Native allocations at known places: three leaks, the largest first, and far more that is freed, part of it by other
 * threads and by libc. Prints "leak FUNCTION BYTES" and "allocated FUNCTION BYTES". Arguments: how many KiB the smallest
 * leak has, and "wait" for lines of input before and after.
 */
public class Leaks {
    static {
        System.loadLibrary("leaks");
    }

    static native void large(long kib);

    static native void middle(long kib);

    static native void small(long kib);

    /** Allocates so many KiB, and frees all of them. */
    static native void noise(long kib);

    /** The same on a thread that the JVM does not know. */
    static native void foreign(long kib);

    static void leak(long kib) {
        large(4 * kib);
        middle(2 * kib);
        small(kib);
    }

    public static void main(String[] args) throws Exception {
        long kib = Long.parseLong(args[0]);
        boolean waits = args.length > 1;

        System.out.println("ready");
        if (waits) {
            System.in.read();
        }
        Thread other = new Thread(() -> noise(16 * kib), "noisy");
        other.start();
        leak(kib);
        noise(16 * kib);
        foreign(8 * kib);
        other.join();
        System.out.println("leak leak_large " + 4 * kib * 1024);
        System.out.println("leak leak_middle " + 2 * kib * 1024);
        System.out.println("leak leak_small " + kib * 1024);
        System.out.println("allocated noise " + 32 * kib * 1024);
        System.out.println("allocated foreign " + 8 * kib * 1024);
        System.out.println("end");
        if (waits) {
            System.in.read();
            System.in.read();
        }
    }
}
