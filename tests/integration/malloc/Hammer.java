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

    static volatile long damaged;

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
        long each = Long.parseLong(args[1]) * 1000 / count;
        Thread[] threads = new Thread[count];
        Thread loader = new Thread(() -> System.out.println("loaded " + loadAgain(args[2])));

        System.out.println("ready");
        System.in.read();
        loader.start();
        for (int i = 0; i < count; i++) {
            long seed = i + 1;

            threads[i] = new Thread(() -> add(seed % 2 == 0 ? work(each, seed) : foreignWork(each, seed)));
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        stopLoading();
        loader.join();
        System.out.println("damaged " + damaged);
        System.out.println("end");
    }
}
