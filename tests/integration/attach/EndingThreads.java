// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.CountDownLatch;

/** Has 20 threads, which end after a line and a collection. The next line is its end. */
public class EndingThreads {
	static final CountDownLatch end = new CountDownLatch(1);

	static void await() {
		try {
			end.await();
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
		}
	}

	public static void main(String[] args) throws Exception {
		Thread[] threads = new Thread[20];

		for (int i = 0; i < threads.length; i++) {
			threads[i] = new Thread(EndingThreads::await, "ends-" + i);
			threads[i].start();
		}
		System.out.println("ready");
		System.in.read();
		System.gc();
		System.gc();
		end.countDown();
		for (Thread thread : threads)
			thread.join();
		System.out.println("joined");
		System.in.read();
	}
}
