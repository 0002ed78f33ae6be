// SPDX-License-Identifier: Apache-2.0
import braid.context.BraidContext;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;

/**
 * A shop whose one server serves one request after the other. After a line of input comes one, the one with the number 7, whose lock a backup has
 * then, which sleeps. Ends after another line.
 */
public final class Shop {
	private static final class Stock {
		long looked;
	}

	private static final Stock stock = new Stock();

	private static void nap(int ms) throws InterruptedException {
		Thread.sleep(ms);
	}

	private static void copy(CountDownLatch begun) {
		synchronized (stock) {
			begun.countDown();
			try {
				nap(400);
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
		}
	}

	private static void lookUp() {
		synchronized (stock) {
			stock.looked++;
		}
	}

	private static void serve(long number, String route) throws InterruptedException {
		try (BraidContext.Scope s = BraidContext.open(7, 7, number).with("http.route", route)) {
			nap(5);
			lookUp();
			nap(5);
		}
	}

	private static void serveAll() {
		CountDownLatch begun = new CountDownLatch(1);
		Thread backup = new Thread(() -> copy(begun), "backup");

		try {
			for (int number = 100; System.in.available() == 0; number++)
				serve(number, "/login");
			backup.start();
			begun.await();
			serve(7, "/cart");
			backup.join();
		} catch (InterruptedException | IOException e) {
			throw new IllegalStateException(e);
		}
	}

	public static void main(String[] args) throws Exception {
		Thread server = new Thread(Shop::serveAll, "server");
		server.start();
		System.out.println("ready");
		server.join();
		System.out.println("served");
		System.in.read();
		System.in.read();
	}
}
