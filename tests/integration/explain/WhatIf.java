// SPDX-License-Identifier: Apache-2.0
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Work of which a part can be taken away. The thread "coordinator" lives as long as it takes. Pairs of modes:
 * "locked" and "free", without the lock; "slow" and "fast", with half of the work in compress(); "far" and "near", with
 * a server whose lookup() takes a third; "heavy" and "light", with a pool whose load() takes half; "paced" and
 * "eager", without the pauses between pieces of work.
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

	private static void lookup(int ms) {
		nap(ms);
	}

	private static void serve(ServerSocket listening, int ms) {
		try (Socket client = listening.accept()) {
			InputStream in = client.getInputStream();
			OutputStream out = client.getOutputStream();

			for (int request; (request = in.read()) >= 0;) {
				lookup(ms);
				out.write(request);
			}
		} catch (java.io.IOException e) {
			throw new IllegalStateException(e);
		}
	}

	private static void requestsToServer(int ms) throws Exception {
		try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			new Thread(() -> serve(listening, ms), "server").start();
			try (Socket server = new Socket(listening.getInetAddress(), listening.getLocalPort())) {
				for (int i = 0; i < 30; i++) {
					server.getOutputStream().write(i);
					server.getInputStream().read();
					nap(8);
				}
			}
		}
	}

	private static long load(int ms) {
		nap(ms);
		return ms;
	}

	private static void tasks(int ms) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(2);
		List<Future<Long>> results = new ArrayList<>();
		long sum = 0;

		for (int i = 0; i < 40; i++)
			results.add(pool.submit(() -> {
				nap(5);
				return load(ms);
			}));
		for (Future<Long> result : results)
			sum += result.get();
		pool.shutdown();
		System.out.println(sum);
	}

	private static void pieces(boolean paced) {
		long sum = 1;

		for (int i = 0; i < 40; i++) {
			sum = encode(compress(sum, 4_000_000));
			if (paced)
				nap(12);
		}
		System.out.println(sum);
	}

	private static void run(String mode) {
		try {
			switch (mode) {
			case "locked":
			case "free":
				requests(mode.equals("locked"));
				break;
			case "slow":
			case "fast":
				pipeline(mode.equals("slow") ? 8_000_000 : 4_000_000);
				break;
			case "far":
			case "near":
				requestsToServer(mode.equals("far") ? 30 : 10);
				break;
			case "heavy":
			case "light":
				tasks(mode.equals("heavy") ? 40 : 20);
				break;
			default:
				pieces(mode.equals("paced"));
			}
		} catch (Exception e) {
			throw new IllegalStateException(e);
		}
	}

	public static void main(String[] args) throws Exception {
		Thread coordinator = new Thread(() -> run(args[0]), "coordinator");

		coordinator.start();
		coordinator.join();
	}
}
