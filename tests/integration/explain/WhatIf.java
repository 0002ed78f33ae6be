// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.ArrayBlockingQueue;

/**
 * Work of which a part can be taken away: WhatIf locked|free|slow|fast. The thread "coordinator" lives as long as it
 * takes. "free" is "locked" without the lock, and "fast" is "slow" with half of the work in compress().
 */
public final class WhatIf {
	private static final class Journal {
		void write() {
			nap(20);
		}
	}

	private static final int ITEMS = 60;
	private static final ArrayBlockingQueue<Long> queue = new ArrayBlockingQueue<>(4);

	private static void nap(int ms) {
		try {
			Thread.sleep(ms);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	private static void handleRequests(Journal journal, boolean locked) {
		for (int i = 0; i < 10; i++) {
			nap(10);
			if (locked) {
				synchronized (journal) {
					journal.write();
				}
			} else {
				journal.write();
			}
		}
	}

	private static long compress(long item, int rounds) {
		for (int i = 0; i < rounds; i++)
			item = item * 6364136223846793005L + 1442695040888963407L;
		return item;
	}

	private static long encode(long item) {
		for (int i = 0; i < 2_000_000; i++)
			item = item * 2862933555777941757L + 3037000493L;
		return item;
	}

	private static void consume(int rounds) {
		long sum = 0;

		try {
			for (int i = 0; i < ITEMS; i++)
				sum += compress(encode(queue.take()), rounds);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
		System.out.println(sum);
	}

	private static void work(Thread[] threads) throws InterruptedException {
		for (Thread t : threads)
			t.start();
		for (Thread t : threads)
			t.join();
	}

	private static void requests(boolean locked) throws InterruptedException {
		Journal journal = new Journal();
		Thread[] threads = new Thread[4];

		for (int i = 0; i < threads.length; i++)
			threads[i] = new Thread(() -> handleRequests(journal, locked), "request-" + i);
		work(threads);
	}

	private static void pipeline(int rounds) throws InterruptedException {
		Thread producer = new Thread(() -> {
			try {
				for (long i = 0; i < ITEMS; i++)
					queue.put(i);
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
		}, "producer");

		work(new Thread[] {producer, new Thread(() -> consume(rounds), "consumer")});
	}

	private static void run(String mode) {
		try {
			if (mode.equals("locked") || mode.equals("free"))
				requests(mode.equals("locked"));
			else
				pipeline(mode.equals("slow") ? 8_000_000 : 4_000_000);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	public static void main(String[] args) throws Exception {
		Thread coordinator = new Thread(() -> run(args[0]), "coordinator");

		coordinator.start();
		coordinator.join();
	}
}
