// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.ArrayBlockingQueue;

/** A convoy behind one consumer: six producers fill a queue faster than its only consumer can work on it. */
public final class Convoy {
	private static final ArrayBlockingQueue<Long> queue = new ArrayBlockingQueue<>(8);
	private static final long END = -1;

	private static void produce(long end) {
		try {
			for (long i = 0; System.nanoTime() < end; i++)
				queue.put(i);
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
		}
	}

	private static long compress(long item) {
		for (int i = 0; i < 2_000_000; i++)
			item = item * 6364136223846793005L + 1442695040888963407L;
		return item;
	}

	private static void consume() {
		long sum = 0;

		try {
			for (long item; (item = queue.take()) != END;)
				sum += compress(item);
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
		}
		System.out.println(sum);
	}

	public static void main(String[] args) throws Exception {
		System.out.println("ready");
		long end = System.nanoTime() + 60_000_000_000L;
		Thread[] producers = new Thread[6];
		Thread consumer = new Thread(Convoy::consume, "consumer");

		consumer.start();
		for (int i = 0; i < producers.length; i++) {
			producers[i] = new Thread(() -> produce(end), "producer-" + i);
			producers[i].start();
		}
		for (Thread t : producers)
			t.join();
		queue.put(END);
		consumer.join();
	}
}
