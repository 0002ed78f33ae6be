import java.util.concurrent.CountDownLatch;

/*
 * Threads that exist before the recording allocate after a line of input; the arguments are their number and MiB each.
 * After a second line the program counts another agent's samples of 64 MiB, in a new thread, at the interval that it
 * finds.
 */
public class Sampled {
	static volatile Object sink;

	static native boolean begin();

	static native int end();

	static void atThreads(int megabytes) {
		for (long n = 0; n >> 20 < megabytes; n += 1016)
			sink = new byte[1000];
	}

	static void line() throws Exception {
		while (System.in.read() != '\n')
			;
	}

	public static void main(String[] args) throws Exception {
		final CountDownLatch go = new CountDownLatch(1);
		Thread[] threads = new Thread[Integer.parseInt(args[0])];
		final int megabytes = Integer.parseInt(args[1]);

		System.loadLibrary("sampled");
		for (int i = 0; i < threads.length; i++) {
			threads[i] = new Thread() {
				public void run() {
					try {
						go.await();
						atThreads(megabytes);
					} catch (InterruptedException e) {
						throw new IllegalStateException(e);
					}
				}
			};
			threads[i].start();
		}
		System.out.println("ready");
		line();
		System.gc(); /* gives threads new TLABs, which are sampled from their start */
		go.countDown();
		for (Thread t : threads)
			t.join();
		System.out.println("allocated " + threads.length * (megabytes << 20L));
		System.out.println("end");
		line();
		if (!begin())
			throw new IllegalStateException("no sampled allocations");
		Thread other = new Thread() {
			public void run() {
				atThreads(64);
			}
		};
		other.start();
		other.join();
		System.out.println("samples " + end());
	}
}
