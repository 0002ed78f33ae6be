import java.util.concurrent.CountDownLatch;

/**
 * Threads that the JVM knows, and threads that it does not, allocate, move and free native memory and check what is in
 * it, while libraries come and go. Arguments: threads, operations of all of them in thousands, and the name of a library
 * to load again and again; it waits for a line of input first. Or "pairs" and how many: the ns that a malloc with its free takes, round by round.
 */
public class Hammer {
    static {
        System.loadLibrary("hammer");
    }

    /** Returns how many blocks had not kept what was written into them. */
    static native long work(long operations, long seed);

    static native long foreignWork(long operations, long seed);

    static native double pair(long count);

    /** Loads a library and unloads it until stopped. Returns how often. */
    static native long loadAgain(String library);

    static native void stopLoading();

    static final int PARTS = 10;
    static volatile long damaged;
    static volatile boolean stopped;

    static synchronized void add(long more) {
        damaged += more;
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("pairs")) {
            for (int i = 0; i < Integer.parseInt(args[1]); i++) {
                System.out.println(pair(1_000_000));
            }
            return;
        }
        int count = Integer.parseInt(args[0]);
        long part = Long.parseLong(args[1]) * 1000 / count / PARTS;
        Thread[] threads = new Thread[count];
        CountDownLatch worked = new CountDownLatch(count);
        Thread loader = new Thread(() -> System.out.println("loaded " + loadAgain(args[2])));

        System.out.println("ready");
        System.in.read();
        loader.start();
        for (int i = 0; i < count; i++) {
            long seed = i + 1;

            threads[i] = new Thread(() -> {
                for (int done = 0; done < PARTS || !stopped; ) {
                    add(seed % 2 == 0 ? work(part, seed + done * 1000L) : foreignWork(part, seed + done * 1000L));
                    if (++done == PARTS) {
                        worked.countDown();
                    }
                }
            });
            threads[i].start();
        }
        worked.await();
        System.out.println("worked");
        System.in.read();
        stopped = true;
        for (Thread thread : threads) {
            thread.join();
        }
        stopLoading();
        loader.join();
        System.out.println("damaged " + damaged);
        System.out.println("end");
    }
}
