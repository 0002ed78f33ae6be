// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.List;

/**
 * A collection that hits requests: one thread handles requests, another one fills a cache with 200,000 small objects
 * and asks for a full collection each time.
 */
public final class GcPause {
	private static volatile boolean done;

	private static long handleRequest(long seed) {
		for (int i = 0; i < 20_000; i++)
			seed = seed * 6364136223846793005L + 1442695040888963407L;
		return seed;
	}

	private static void refillCache() {
		while (!done) {
			List<Object[]> cache = new ArrayList<>();

			for (int i = 0; i < 200_000; i++)
				cache.add(new Object[] {cache, i});
			System.gc();
		}
	}

	public static void main(String[] args) throws Exception {
		System.out.println("ready");
		Thread refill = new Thread(GcPause::refillCache, "cache");
		long end = System.nanoTime() + 60_000_000_000L, seed = 1;

		refill.start();
		while (System.nanoTime() < end)
			seed = handleRequest(seed);
		done = true;
		refill.join();
		System.out.println(seed);
	}
}
