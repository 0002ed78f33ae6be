// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Pinned virtual threads (before JDK 24): each request sleeps in a synchronized method, so it keeps its carrier, and
 * the others find none.
 */
public final class Pinned {
	private static final class Session {
		synchronized void callBackEnd() {
			try {
				Thread.sleep(20);
			} catch (InterruptedException e) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private static void handleRequest() {
		new Session().callBackEnd();
	}

	public static void main(String[] args) {
		System.out.println("ready");
		long end = System.nanoTime() + 60_000_000_000L;

		while (System.nanoTime() < end)
			try (ExecutorService requests = Executors.newVirtualThreadPerTaskExecutor()) {
				for (int i = 0; i < 20; i++)
					requests.submit(Pinned::handleRequest);
			}
	}
}
